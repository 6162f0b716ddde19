// Modifier keys that a button holds down for the next key or click: a phone has none.

const KEYS = { Control: [0xffe3, "ControlLeft"], Alt: [0xffe9, "AltLeft"], Shift: [0xffe1, "ShiftLeft"] };

export class Held {
  #down = new Set();

  constructor(screen, buttons) {
    this.screen = screen;
    this.buttons = buttons;
    for (const button of buttons) button.addEventListener("click", () => this.#toggle(button.dataset.hold));
  }

  // used lets all of them go, after the key or click that they were held for.
  used() {
    for (const name of [...this.#down]) this.#toggle(name);
  }

  // forget drops them without a key event: the connection is gone, and with it what was held.
  forget() {
    this.#down.clear();
    for (const button of this.buttons) button.setAttribute("aria-pressed", "false");
  }

  #toggle(name) {
    const down = !this.#down.has(name);
    this.#down[down ? "add" : "delete"](name);
    const [keysym, code] = KEYS[name];
    this.screen.key(keysym, code, down);
    for (const button of this.buttons) {
      if (button.dataset.hold === name) button.setAttribute("aria-pressed", String(down));
    }
  }
}
