// The open view: connection, time left, input, and its three ends (Done, Cancel, and an end that comes from the box).
import { call, Refusal } from "./calls.js";
import { at, alarm, say, toast, view as showView } from "./show.js";
import { Countdown, minutes } from "./clock.js";
import { Screen } from "./screen.js";
import { Held } from "./held.js";
import { Keys } from "./keys.js";
import { Text } from "./text.js";
import { Touch } from "./touch.js";
import { Pane } from "./pane.js";
import { base } from "./link.js";

const POLL = 10000;       // ms between two looks at the state
const IDLE_WARNING = 90;  // seconds before the idle end
const WORDS = { connecting: "Connecting", connected: "Connected", lost: "Reconnecting" };

export class View {
  #poll = 0;
  #misses = 0;
  #open = false;

  // ended({end, done}) is called once; saving() before Done closes the browser; moved() when another tab took over.
  constructor({ ended, saving, moved }) {
    Object.assign(this, { ended, saving, moved });
    this.screen = new Screen({
      state: (name) => this.#connection(name),
      alive: () => this.look(),
      ready: (focus) => { if (focus && !document.querySelector("dialog[open]")) this.screen.focus(); },
    });
    this.held = new Held(this.screen, document.querySelectorAll("#keys [data-hold]"));
    this.keys = new Keys({ screen: this.screen, held: this.held, paste: () => this.text.paste() });
    this.pane = new Pane(this.screen);
    this.text = new Text({ keys: this.keys, screen: this.screen, pane: this.pane });
    this.touch = new Touch({ screen: this.screen, held: this.held });
    this.left = new Countdown({
      show: (_, seconds) => {
        at("view-left").textContent = `${minutes(seconds)} left`;
        at("view-left").classList.toggle("soon", seconds <= 60);
      },
      soon: (seconds) => toast(seconds > 60 ? "Five minutes left" : "One minute left"),
      over: () => this.look(),
    });
    this.#buttons();
    this.#tabs();
    document.addEventListener("visibilitychange", () => { if (!document.hidden && this.#open) this.look().then(() => this.screen.hurry()); });
  }

  open(state) {
    this.#open = true;
    at("view-site").textContent = state.site;
    document.title = `${state.site} on your box`;
    this.left.set(state.left);
    showView();
    say(`The browser for ${state.site} is open. All keys go to it; F6 comes back to the controls.`);
    this.#channel?.postMessage("mine");
    this.screen.open();
    clearInterval(this.#poll);
    this.#poll = setInterval(() => this.look(), POLL);
  }

  close() {
    this.#open = false;
    clearInterval(this.#poll);
    this.left.stop();
    this.text.toggle(false);
    this.screen.close();
  }

  // look asks for the state. It answers whether the view lives and can be reached, and ends it here when it is over.
  async look() {
    if (!this.#open) return false;
    try {
      const state = await call("state", {}, { wait: 8000 });
      this.#misses = 0;
      if (!this.#open) return false;
      if (state.phase === "ended") return this.#over(state.end);
      this.left.set(state.left);
      this.#idle(state.idle);
      return state.phase === "open";
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      if (!refusal.offline) return this.#over("");
      if (this.left.left === 0) return this.#over("limit");
      if (++this.#misses >= 2) this.screen.drop();
      return false;
    }
  }

  #over(end) {
    if (this.#open) {
      this.close();
      this.ended({ end });
    }
    return false;
  }

  #idle(seconds) {
    if (seconds > 0 && seconds <= IDLE_WARNING && this.screen.connected) {
      toast(`Without a key or click the view ends in ${seconds} seconds`, { bad: true });
    }
  }

  #connection(name) {
    at("connection").dataset.state = name;
    at("connection-text").textContent = WORDS[name];
    const first = at("veil-text").dataset.seen !== "yes";
    at("veil").hidden = name === "connected";
    at("veil-text").textContent = first ? "Connecting to the browser…" : "The connection was lost. It comes back by itself; nothing is lost on the box.";
    if (name === "connected") {
      if (!first) say("Connected again");
      at("veil-text").dataset.seen = "yes";
    }
    if (name === "lost") {
      this.held.forget();
      alarm(first ? "" : "The connection was lost. Trying again.");
    }
  }

  #buttons() {
    at("done").addEventListener("click", () => this.#done());
    at("cancel").addEventListener("click", () => at("sure").showModal());
    at("sure-back").addEventListener("click", () => at("sure").close());
    at("sure-yes").addEventListener("click", () => this.#cancel());
    at("tool-help").addEventListener("click", () => at("help").showModal());
    at("help-close").addEventListener("click", () => at("help").close());
    at("tool-keys").addEventListener("click", () => {
      const open = at("keys").hidden;
      at("keys").hidden = !open;
      at("tool-keys").setAttribute("aria-expanded", String(open));
      this.pane.fit();
    });
    // A key of the row must not take the phone's keyboard down.
    at("keys").addEventListener("pointerdown", (e) => { if (document.activeElement === at("touch")) e.preventDefault(); });
  }

  async #done() {
    const site = at("view-site").textContent;
    this.close();
    this.saving();
    try {
      this.ended({ end: "done", site, done: await call("done", {}, { wait: 240000, progress: (step) => this.saving(step) }) });
    } catch (refusal) {
      this.ended({ end: "done", site, refusal });
    }
  }

  async #cancel() {
    at("sure").close();
    this.close();
    try {
      await call("cancel");
      this.ended({ end: "cancelled" });
    } catch (refusal) {
      this.ended({ end: "cancelled", refusal: refusal.offline ? refusal : undefined });
    }
  }

  // Only one client at a time has the screen, and two tabs with one cookie would take it from each other for ever.
  #channel = globalThis.BroadcastChannel ? new BroadcastChannel(`view${base}`) : null;
  #tabs() {
    this.#channel?.addEventListener("message", () => {
      if (!this.#open) return;
      this.close();
      this.moved();
    });
  }
}
