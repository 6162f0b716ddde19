// Text into the field that has the cursor remotely: from the box, and from a paste on the screen. It goes by one POST to
// the box, which puts it in from its own side; VNC's clipboard knows Latin-1 only and would keep it. Nothing is kept here.
import { call } from "./calls.js";
import { alarm, at, fill, say, sentence, toast } from "./show.js";

const MOST = 64 << 10; // bytes in one go

export class Text {
  // keys holds key events back while text is under way; screen takes the focus afterwards.
  constructor({ keys, screen, pane }) {
    Object.assign(this, { keys, screen, pane });
    this.#panel();
    this.#pastes();
  }

  // send delivers text. It answers "" or what went wrong, in words for the person.
  async send(text, typed) {
    if (!text) return "There is no text to send.";
    const over = tooLong(text);
    if (over) return over;
    return this.keys.inOrder(() => this.#deliver(text, typed));
  }

  async #deliver(text, typed) {
    try {
      const { characters, way } = await call("text", { text, typed }, { wait: 300000 });
      toast(`${characters} ${characters === 1 ? "character" : "characters"} ${way === "typed" ? "typed" : "sent"}`);
      return "";
    } catch (refusal) {
      if (refusal.status === 0) return "The connection was lost: the text may not have arrived.";
      return `${sentence(refusal.message)} ${refusal.hint}`.trim();
    }
  }

  // paste is called on the keys that paste: the hidden box takes the focus so that every browser brings the text there.
  paste() {
    const catcher = at("catcher");
    catcher.value = "";
    catcher.focus({ preventScroll: true });
    clearTimeout(this.nothing);
    this.nothing = setTimeout(() => {
      if (document.activeElement !== catcher) return;
      this.screen.focus();
      toast("There was no text to paste");
    }, 1000);
  }

  toggle(open = at("text").hidden) {
    at("text").hidden = !open;
    at("tool-text").setAttribute("aria-expanded", String(open));
    this.#clear();
    this.pane.fit();
    if (open) this.#field().focus();
  }

  #pastes() {
    const outside = (e) => e.target !== at("catcher") && e.target !== at("touch") && !at("stage").contains(e.target);
    document.addEventListener("paste", async (e) => {
      if (at("view").hidden || (outside(e) && e.target !== document.body)) return;
      e.preventDefault();
      clearTimeout(this.nothing);
      const text = e.clipboardData.getData("text/plain");
      if (e.target !== at("touch")) this.screen.focus();
      const wrong = await this.send(text, false);
      if (wrong) toast(wrong, { bad: true });
    }, true);
    at("catcher").addEventListener("input", () => { at("catcher").value = ""; });
  }

  #panel() {
    at("tool-text").addEventListener("click", () => this.toggle());
    at("text-close").addEventListener("click", () => this.#leave());
    at("text").addEventListener("keydown", (e) => { if (e.key === "Escape") this.#leave(); });
    at("text").addEventListener("submit", (e) => {
      e.preventDefault();
      this.#submit();
    });
    // A browser takes seconds to lay a megabyte out, so it does not even get into a box.
    at("text").addEventListener("beforeinput", (e) => {
      const over = tooLong(e.data ?? e.dataTransfer?.getData("text/plain") ?? "");
      if (!over) return;
      e.preventDefault();
      this.#wrong(over);
    });
    at("text-many").addEventListener("change", () => {
      const many = at("text-many").checked;
      const [from, to] = many ? ["text-line", "text-lines"] : ["text-lines", "text-line"];
      at(to).value = at(from).value;
      at(from).value = "";
      at(from).hidden = true;
      at(to).hidden = false;
      at("text-label").htmlFor = to;
    });
    at("text-show").addEventListener("click", () => {
      const show = at("text-show").getAttribute("aria-pressed") !== "true";
      this.#show(show);
      say(show ? "The text is shown" : "The text is hidden");
    });
  }

  async #submit() {
    const send = at("text-send");
    if (send.getAttribute("aria-disabled") === "true") return;
    const field = this.#field(), text = field.value;
    fill("text-error", "");
    send.setAttribute("aria-disabled", "true");
    const wrong = await this.send(text, at("text-typed").checked);
    send.removeAttribute("aria-disabled");
    if (wrong) {
      this.#wrong(wrong);
      field.focus();
      return;
    }
    this.toggle(false);
    this.screen.focus();
  }

  #wrong(text) {
    fill("text-error", text);
    alarm(text);
  }

  #leave() {
    this.toggle(false);
    at("tool-text").focus();
  }

  #clear() {
    for (const id of ["text-line", "text-lines"]) at(id).value = "";
    fill("text-error", "");
    this.#show(false);
  }

  #show(on) {
    at("text-show").setAttribute("aria-pressed", String(on));
    at("text-line").type = on ? "text" : "password";
    at("text-lines").classList.toggle("masked", !on);
  }

  #field() { return at(at("text-many").checked ? "text-lines" : "text-line"); }
}

function tooLong(text) {
  const bytes = new TextEncoder().encode(text).length;
  if (bytes <= MOST) return "";
  return `That is ${bytes.toLocaleString("en")} bytes, and at most ${MOST.toLocaleString("en")} go in one piece. Nothing was sent.`;
}
