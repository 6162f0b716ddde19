// The page of one view: what the link asks for, one press, the view, its end. The nonce has left the
// address bar already (link.js). GETs never change anything on the box; every step here is a POST that a person or this page makes.
import { opened, take } from "./link.js";
import { call } from "./calls.js";
import { digest } from "./digest.js";
import { alarm, at, card, fill, say, servers, trouble } from "./show.js";
import { Countdown, format } from "./clock.js";
import { View } from "./view.js";
import * as end from "./end.js";

let nonce = opened;

const link = new Countdown({
  show: (text) => { at("fact-left").textContent = text; },
  soon: (seconds) => say(`The link is good for ${seconds / 60} more ${seconds === 60 ? "minute" : "minutes"}`),
  over: () => refuse({ message: "the link has run out" }),
});

const view = new View({
  ended: (how) => end.ended(how),
  saving: (step) => end.saving(step),
  moved: () => card("elsewhere"),
});

// begin looks whether this browser is in the view already (a reload, the link opened twice), then what the link is.
async function begin() {
  card("waiting");
  try {
    const state = await call("state");
    if (state.phase === "open") return view.open(state);
    if (state.phase === "saving") return wait();
    if (state.phase === "ended" && !nonce) return end.ended({ end: state.end });
  } catch (refusal) {
    if (refusal.offline) return refuse(refusal, begin);
  }
  if (!nonce) {
    return refuse({ message: "this address is only half of the link", next: "Open the whole link that you were given, or ask for a new one." });
  }
  await peek();
}

// wait stays while Done, pressed before a reload or in another tab, does its work.
function wait() {
  if (at("saving").hidden) end.saving();
  setTimeout(async () => {
    const state = await call("state").catch(() => ({ phase: "ended", end: "done" }));
    if (state.phase === "saving") wait();
    else end.ended({ end: state.end });
  }, 1500);
}

async function peek() {
  try {
    const about = await call("peek", { hash: await digest(nonce) });
    at("before-site").textContent = about.site;
    at("fact-site").textContent = about.site;
    at("fact-seat").textContent = about.seat;
    at("fact-note").textContent = about.note || "No reason was given";
    at("fact-server").textContent = servers[about.server] ?? about.server;
    document.title = `Open ${about.site}?`;
    trouble("before-error", "before", {});
    card("before");
    link.set(about.left);
    say(`The link is good for ${format(about.left)}`);
  } catch (refusal) {
    refuse(refusal, refusal.offline ? begin : undefined);
  }
}

async function enter() {
  const button = at("enter");
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  trouble("before-error", "before", {});
  try {
    await call("enter", { nonce }, { wait: 60000 });
    const state = await call("state");
    nonce = "";
    link.stop();
    view.open(state);
  } catch (refusal) {
    // Busy and a missing part leave the link good: it can be pressed again.
    if (refusal.offline || refusal.code === "busy") {
      trouble("before-error", "before", refusal);
      alarm(at("before-error").textContent);
    } else refuse(refusal);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

function refuse({ message, hint, next = "Ask for a new link." }, again) {
  link.stop();
  trouble("refused-text", "refused", { message, hint });
  fill("refused-hint", again ? "" : next);
  at("retry").hidden = !again;
  at("retry").onclick = again ?? null;
  document.title = "This did not open";
  card("refused");
}

at("enter").addEventListener("click", enter);
at("take").addEventListener("click", begin);
// Another link pasted into this tab changes the fragment only, which loads nothing.
window.addEventListener("hashchange", () => {
  nonce = take() || nonce;
  if (at("view").hidden) begin();
});

begin();
