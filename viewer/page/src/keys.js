// Keys: the row of buttons, the ways out of the screen and into it by keyboard, and the order of keys and pastes.
import { at } from "./show.js";

const SYMS = {
  Escape: 0xff1b, Tab: 0xff09, Enter: 0xff0d, Backspace: 0xff08, Delete: 0xffff, F6: 0xffc3,
  ArrowLeft: 0xff51, ArrowUp: 0xff52, ArrowRight: 0xff53, ArrowDown: 0xff54,
};
const MODIFIERS = new Set(["Control", "Shift", "Alt", "AltGraph", "Meta", "CapsLock", "NumLock"]);
const HEAD_START = 150;   // ms for a key to get to the box before a text that goes by another connection
const MOST_WAITING = 500; // key events that wait for a text

export class Keys {
  #queue = null;    // key events and texts that wait for a text under way, or null
  #passing = false; // what comes now is ours
  #sent = 0;        // when the last key went
  #modifier = null; // Control or Meta that the person holds and the box has not been told of

  // paste() is told that a paste was asked for by keyboard.
  constructor({ screen, held, paste }) {
    Object.assign(this, { screen, held, paste });
    const stage = at("stage");
    stage.addEventListener("keydown", (e) => this.#down(e), true);
    stage.addEventListener("keyup", (e) => this.#up(e), true);
    for (const kind of ["pointerdown", "wheel"]) stage.addEventListener(kind, (e) => this.#tell(e), { capture: true, passive: true });
    stage.addEventListener("pointerup", () => setTimeout(() => held.used(), 50), true);
    // A key that is down when the focus leaves would stay down remotely: its keyup goes elsewhere.
    stage.addEventListener("focusout", () => this.letGo());
    for (const button of document.querySelectorAll("#keys [data-key]")) {
      button.addEventListener("click", () => this.press(button.dataset.key));
    }
    at("view").addEventListener("keydown", (e) => this.#outside(e));
    at("skip").addEventListener("click", () => screen.focus());
  }

  // press sends one key of the row, with what is held, and lets that go.
  press(name) {
    this.screen.key(SYMS[name], name);
    this.held.used();
  }

  // letGo releases every key that noVNC thinks is down, by the event on which it does so itself.
  letGo() { window.dispatchEvent(new Event("blur")); }

  // inOrder runs a task that sends text, by another way than keys go. Keys pressed and texts sent meanwhile follow it, in
  // the order in which the person made them.
  async inOrder(task) {
    if (this.#modifier) this.#modifier.pasted = true;
    if (this.#queue) return new Promise((done) => { this.#queue.push({ task, done }); });
    this.#queue = [];
    const result = await this.#run(task);
    this.#drain();
    return result;
  }

  // run lets a key that was just sent arrive first.
  async #run(task) {
    this.letGo();
    const wait = this.#sent + HEAD_START - performance.now();
    if (wait > 0) await new Promise((go) => { setTimeout(go, wait); });
    return task();
  }

  async #drain() {
    for (let next; (next = this.#queue.shift());) {
      if (next.task) {
        next.done(await this.#run(next.task));
      } else this.#send(next);
    }
    this.#queue = null;
  }

  #down(e) {
    if (this.#passing) return;
    if (leaves(e)) {
      stop(e);
      this.letGo();
      at("done").focus();
    } else if (pastes(e)) {
      e.stopPropagation(); // not prevented: the browser's own paste is what brings the text
      if (e.repeat) e.preventDefault();
      else this.paste();
    } else if (e.key === "Control" || e.key === "Meta") {
      // Not told before the next key says that it is no paste: the box presses Control itself for that, by another way
      // than keys go, and two that cross would leave it down.
      stop(e);
      if (!e.repeat) this.#modifier = copy(e);
    } else {
      this.#tell(e);
      if (this.#queue) this.#pass(e);
      this.#sent = performance.now();
    }
  }

  #up(e) {
    if (this.#passing) return;
    const kept = this.#modifier;
    if (kept?.code === copy(e).code) {
      this.#modifier = null;
      if (!kept.pasted) this.#dispatch(kept);
    }
    if (this.#queue || e.key === "Meta") this.#pass(e);
    if (!MODIFIERS.has(e.key)) setTimeout(() => this.held.used());
  }

  // tell hands on a modifier that was kept, unless its keyup went past us.
  #tell(e) {
    const kept = this.#modifier;
    this.#modifier = null;
    if (kept && (e.ctrlKey || e.metaKey)) this.#dispatch(kept);
  }

  // pass puts an event of the person's in its place among ours.
  #pass(e) {
    stop(e);
    this.#dispatch(copy(e));
  }

  #dispatch(e) {
    if (!this.#queue) this.#send(e);
    else if (this.#queue.length < MOST_WAITING) this.#queue.push(e);
  }

  #send(e) {
    this.#sent = performance.now();
    this.#passing = true;
    this.screen.canvas?.dispatchEvent(new KeyboardEvent(e.type, { ...e, bubbles: true, cancelable: true }));
    this.#passing = false;
  }

  // outside: F6 goes from the controls into the screen.
  #outside(e) {
    if (e.defaultPrevented || !leaves(e) || at("stage").contains(e.target)) return;
    stop(e);
    this.screen.focus();
  }
}

// copy is what noVNC reads of a key event. A Mac's Command is Control to the box: Command and A selects all.
const copy = (e) => ({
  type: e.type, key: e.key, code: e.code, keyCode: e.keyCode, location: e.location, repeat: e.repeat,
  ctrlKey: e.ctrlKey, shiftKey: e.shiftKey, altKey: e.altKey, metaKey: e.metaKey,
  modifierCapsLock: e.getModifierState("CapsLock"), modifierNumLock: e.getModifierState("NumLock"),
  modifierAltGraph: e.getModifierState("AltGraph"),
  ...(APPLE && e.key === "Meta" ? { key: "Control", code: "ControlLeft", metaKey: false } : {}),
});
const APPLE = /^(Mac|iP)/.test(navigator.platform);

const stop = (e) => { e.preventDefault(); e.stopPropagation(); };

// F6 is the key that changes panes in browsers; Ctrl+Alt+Home is what remote desktops use where F6 is out of reach.
const leaves = (e) => (e.key === "F6" && !e.ctrlKey && !e.altKey && !e.metaKey) || (e.key === "Home" && e.ctrlKey && e.altKey);

// By the letter, or by the place of the key where the layout has no Latin letters. AltGr reads as Ctrl+Alt: no paste.
function pastes(e) {
  if (e.key === "Insert") return e.shiftKey && !e.ctrlKey && !e.altKey;
  if (e.altKey || !(e.ctrlKey || e.metaKey)) return false;
  return /^[a-z]$/i.test(e.key) ? e.key.toLowerCase() === "v" : e.code === "KeyV";
}
