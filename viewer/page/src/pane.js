// The pane on a phone. Its keyboard and the sheets of this page cover a part of the picture; that must neither shrink the
// picture nor change the size of the remote screen under the person's hands, so the pane becomes a window onto it.
import { at } from "./show.js";

const EDGE = 0.22; // of the pane's height: a touch this near to an edge moves the window on

export class Pane {
  #full = 0; // height of the pane when nothing covers it, in pixels
  #tap = 0;  // where the person last touched, in pixels of the picture

  constructor(screen) {
    this.screen = screen;
    this.wide = matchMedia("(min-width: 760px)");
    at("stage").addEventListener("pointerdown", (e) => this.#tapped(e), true);
    visualViewport?.addEventListener("resize", () => this.fit());
    this.wide.addEventListener("change", () => this.fit());
    window.addEventListener("resize", () => { this.#full = 0; this.fit(); });
    new ResizeObserver(() => { if (!this.screen.frozen && !this.#sheet) this.#full = at("stage").clientHeight; }).observe(at("stage"));
  }

  // fit is called whenever something opened or closed that covers the picture.
  fit() {
    const seen = visualViewport, root = document.documentElement.style, stage = at("stage");
    const keyboard = Boolean(seen) && seen.scale === 1 && window.innerHeight - seen.height > 80;
    if (keyboard) root.setProperty("--tall", `${seen.height}px`);
    else root.removeProperty("--tall");
    this.screen.frozen = keyboard || this.#sheet;
    if (!this.screen.frozen) {
      root.removeProperty("--frozen");
      stage.scrollTop = 0;
      return;
    }
    this.#full ||= stage.clientHeight + at("keys").offsetHeight + (this.wide.matches ? 0 : at("text").offsetHeight);
    root.setProperty("--frozen", `${this.#full}px`);
    window.scrollTo(0, 0); // Safari moves the page to bring its focused box into sight
    stage.scrollTop = this.#tap - stage.clientHeight / 2;
  }

  get #sheet() { return !this.wide.matches && !(at("keys").hidden && at("text").hidden); }

  #tapped(e) {
    const stage = at("stage"), y = e.clientY - stage.getBoundingClientRect().top;
    this.#tap = y + stage.scrollTop;
    if (!this.screen.frozen) return;
    const near = y < EDGE * stage.clientHeight ? -1 : y > (1 - EDGE) * stage.clientHeight ? 1 : 0;
    if (near) stage.addEventListener("pointerup", () => { stage.scrollTop += near * stage.clientHeight / 3; }, { once: true });
  }
}
