// Every page tells the site what happens on it. One report is under way at a time, so they arrive in order; a field
// that changes meanwhile is told with its newest value only.
"use strict";
(() => {
  const waiting = [];
  let sending = false;

  async function send() {
    if (sending || waiting.length === 0) return;
    sending = true;
    const batch = waiting.splice(0);
    try {
      await fetch("/report", { method: "POST", body: JSON.stringify(batch) });
    } finally {
      sending = false;
      send();
    }
  }

  window.report = (kind, detail = {}) => {
    const entry = { page: location.pathname, kind, at: performance.timeOrigin + performance.now(), detail };
    const same = kind === "field" ? waiting.findIndex((w) => w.kind === kind && w.detail.name === detail.name) : -1;
    if (same >= 0) waiting.splice(same, 1);
    waiting.push(entry);
    send();
  };

  // The middle of everything with an id, in pixels of the screen: whoever sees only the screen can find it there.
  const places = () => {
    const left = screenX + (outerWidth - innerWidth) / 2, top = screenY + outerHeight - innerHeight, found = {};
    for (const element of document.querySelectorAll("[id]")) {
      const box = element.getBoundingClientRect();
      if (box.width && box.height) found[element.id] = [Math.round(left + box.x + box.width / 2), Math.round(top + box.y + box.height / 2)];
    }
    return found;
  };

  const about = () => ({
    places: places(),
    query: location.search,
    visibility: document.visibilityState,
    name: window.name,
    width: innerWidth,
    height: innerHeight,
    outerWidth,
    outerHeight,
    webdriver: navigator.webdriver,
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    language: navigator.language,
  });
  // A window that was just made may not know yet how large it is and where.
  const tell = (kind) => (outerWidth > 0 ? window.report(kind, about()) : setTimeout(tell, 20, kind));
  addEventListener("load", () => tell("load"));
  // Until a page has painted Chrome drops what is pressed on it.
  new PerformanceObserver((_, watch) => {
    watch.disconnect();
    requestAnimationFrame(() => tell("painted"));
  }).observe({ type: "paint", buffered: true });
  document.addEventListener("visibilitychange", () => tell("visibility"));
  addEventListener("resize", () => tell("resize"));
  let where = "";
  setInterval(() => { // no event tells that a window was moved
    const now = screenX + " " + screenY;
    if (where && where !== now) tell("move");
    where = now;
  }, 50);
  addEventListener("blur", () => window.report("blur")); // the focus went to the address bar or to another window
  addEventListener("focus", () => window.report("focus"));
  addEventListener("click", (e) => window.report("click", { id: e.target.id, x: e.clientX, y: e.clientY }));
  addEventListener("pagehide", () => {
    const rest = waiting.splice(0);
    rest.push({ page: location.pathname, kind: "leave", at: performance.timeOrigin + performance.now(), detail: {} });
    navigator.sendBeacon("/report", JSON.stringify(rest));
  });
})();
