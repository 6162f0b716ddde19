// Keys: the row of buttons, the ways out of the screen and into it by keyboard, and the order of keys and pastes.
import { at } from "./show.js";

const SYMS = {
  Escape: 0xff1b, Tab: 0xff09, Enter: 0xff0d, Backspace: 0xff08, Delete: 0xffff, F6: 0xffc3,
  ArrowLeft: 0xff51, ArrowUp: 0xff52, ArrowRight: 0xff53, ArrowDown: 0xff54,
};
const MODIFIERS = new Set(["Control", "Shift", "Alt", "AltGraph", "Meta", "CapsLock", "NumLock"]);
const MOST_HELD_BACK = 500; // key events that wait while a paste is under way

export class Keys {
  #back = null; // key events held back, or null
  #replaying = false;
  #gone = false; // Control was let go remotely for a paste while the person still holds it

  // paste() is told that a paste was asked for by keyboard.
  constructor({ screen, held, paste }) {
    Object.assign(this, { screen, held, paste });
    const stage = at("stage");
    stage.addEventListener("keydown", (e) => this.#down(e), true);
    stage.addEventListener("keyup", (e) => this.#up(e), true);
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

  // holdBack keeps key events until next() so that what is typed after a paste arrives after it.
  holdBack() {
    this.letGo();
    this.#back ??= [];
  }

  next() {
    const waiting = this.#back ?? [];
    this.#back = null;
    this.#replaying = true;
    for (const e of waiting) this.screen.canvas?.dispatchEvent(new KeyboardEvent(e.type, e));
    this.#replaying = false;
  }

  #down(e) {
    if (this.#replaying) return;
    if (leaves(e)) {
      stop(e);
      this.letGo();
      at(at("tools").querySelector("button:not([hidden])") ? "done" : "skip").focus();
      return;
    }
    if (pastes(e)) {
      e.stopPropagation(); // not prevented: the browser's own paste is what brings the text
      if (e.repeat) e.preventDefault();
      else {
        this.letGo();
        this.#gone = e.ctrlKey;
        this.paste();
      }
      return;
    }
    if (this.#keep(e)) return;
    if (this.#gone && e.ctrlKey && !MODIFIERS.has(e.key)) {
      this.#gone = false;
      this.screen.canvas?.dispatchEvent(new KeyboardEvent("keydown", { key: "Control", code: "ControlLeft" }));
    }
  }

  #up(e) {
    if (this.#replaying) return;
    if (e.key === "Control") this.#gone = false;
    if (this.#keep(e)) return;
    if (!MODIFIERS.has(e.key)) setTimeout(() => this.held.used());
  }

  #keep(e) {
    if (!this.#back) return false;
    stop(e);
    if (this.#back.length < MOST_HELD_BACK) {
      this.#back.push({
        type: e.type, key: e.key, code: e.code, keyCode: e.keyCode, location: e.location, repeat: e.repeat,
        ctrlKey: e.ctrlKey, shiftKey: e.shiftKey, altKey: e.altKey, metaKey: e.metaKey,
        modifierCapsLock: e.getModifierState("CapsLock"), modifierNumLock: e.getModifierState("NumLock"),
        modifierAltGraph: e.getModifierState("AltGraph"),
      });
    }
    return true;
  }

  // outside: F6 goes from the controls into the screen.
  #outside(e) {
    if (e.defaultPrevented || !leaves(e) || at("stage").contains(e.target)) return;
    stop(e);
    this.screen.focus();
  }
}

const stop = (e) => { e.preventDefault(); e.stopPropagation(); };

// F6 is the key that changes panes in browsers; Ctrl+Alt+Home is what remote desktops use where F6 is out of reach.
const leaves = (e) => (e.key === "F6" && !e.ctrlKey && !e.altKey && !e.metaKey) || (e.key === "Home" && e.ctrlKey && e.altKey);

// By the letter, or by the place of the key where the layout has no Latin letters. AltGr reads as Ctrl+Alt: no paste.
function pastes(e) {
  if (e.key === "Insert") return e.shiftKey && !e.ctrlKey && !e.altKey;
  if (e.altKey || !(e.ctrlKey || e.metaKey)) return false;
  return /^[a-z]$/i.test(e.key) ? e.key.toLowerCase() === "v" : e.code === "KeyV";
}
