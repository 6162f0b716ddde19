// The phone's own keyboard. A hidden box has the focus; what changes in it becomes key events, as in noVNC's own page.
import keysyms from "../node_modules/@novnc/novnc/core/input/keysymdef.js";
import { at } from "./show.js";

const PAD = "_".repeat(64); // something to delete: an empty box gives no event for Backspace on a phone
const ENTER = 0xff0d; // comes as a line break in the box, with every keyboard
const NAMED = {
  Backspace: 0xff08, Tab: 0xff09, Escape: 0xff1b, Delete: 0xffff,
  ArrowLeft: 0xff51, ArrowUp: 0xff52, ArrowRight: 0xff53, ArrowDown: 0xff54, Home: 0xff50, End: 0xff57,
};

export class Touch {
  #before = PAD;

  constructor({ screen, held }) {
    Object.assign(this, { screen, held });
    const box = at("touch"), button = at("tool-keyboard");
    // On pointerdown the box would lose the focus before the click tells whether it had it.
    button.addEventListener("pointerdown", (e) => e.preventDefault());
    button.addEventListener("click", () => (document.activeElement === box ? box.blur() : box.focus({ preventScroll: true })));
    box.addEventListener("focus", () => this.#open(true));
    box.addEventListener("blur", () => this.#open(false));
    box.addEventListener("keydown", (e) => this.#named(e));
    box.addEventListener("input", () => this.#changed());
    at("stage").addEventListener("pointerdown", () => this.#tapped(), true);
  }

  // While the keyboard is up a tap on the screen must not take it down: noVNC would move the focus to its canvas.
  #tapped() {
    if (this.screen.rfb) this.screen.rfb.focusOnClick = document.activeElement !== at("touch");
  }

  #open(on) {
    at("tool-keyboard").setAttribute("aria-pressed", String(on));
    this.#reset();
  }

  #named(e) {
    const keysym = NAMED[e.key];
    if (!keysym || e.isComposing) return;
    e.preventDefault();
    this.#send(keysym, e.key);
  }

  // changed compares with what was there: first what was deleted, then what is new. Composition and suggestions come
  // out right too, as deletions and letters.
  #changed() {
    const box = at("touch"), before = [...this.#before], now = [...box.value];
    let same = 0;
    while (same < before.length && same < now.length && before[same] === now[same]) same++;
    for (let n = before.length - same; n > 0; n--) this.#send(NAMED.Backspace, "Backspace");
    for (const sign of now.slice(same)) this.#send(sign === "\n" ? ENTER : keysyms.lookup(sign.codePointAt(0)), null);
    this.#before = box.value;
    if (now.length < 8 || now.length > 4 * PAD.length) this.#reset();
  }

  #send(keysym, code) {
    this.screen.key(keysym, code);
    this.held.used();
  }

  // reset also forgets what was typed.
  #reset() {
    this.#before = at("touch").value = PAD;
    at("touch").setSelectionRange(PAD.length, PAD.length);
  }
}
