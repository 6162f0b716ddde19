// What is shown: one card at a time or the view, the focus that goes with it, and what a screen reader is told.

export const at = (id) => document.getElementById(id);

let toastTimer = 0;

// card shows one card and moves the focus to its heading, so that its text is read and Tab goes on from there.
export function card(name) {
  for (const section of document.querySelectorAll("#cards .card")) section.hidden = section.id !== name;
  at("cards").hidden = false;
  at("view").hidden = true;
  for (const open of document.querySelectorAll("dialog[open]")) open.close();
  at(`${name}-title`).focus();
}

export function view() {
  at("cards").hidden = true;
  at("view").hidden = false;
}

// say tells a screen reader, politely; alarm at once.
export function say(text) { at("status").textContent = text; }
export function alarm(text) { at("alarm").textContent = text; }

// toast says it to everybody, for a few seconds.
export function toast(text, { bad = false } = {}) {
  (bad ? alarm : say)(text);
  const box = at("toast");
  box.textContent = text;
  box.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { box.hidden = true; }, bad ? 9000 : 3500);
}

// text fills an element and hides it when there is nothing to say.
export function fill(id, text) {
  at(id).textContent = text;
  at(id).hidden = !text;
}

// trouble shows a refusal in the elements PREFIX-error (or -text) and PREFIX-command. The hint of the box is a command to
// type there.
export function trouble(line, prefix, { message, hint }) {
  fill(line, message ? sentence(message) : "");
  const command = at(`${prefix}-command`);
  command.querySelector("code").textContent = hint ?? "";
  command.hidden = !hint;
}

// sentence makes one of an error line, which starts in lower case and has no stop.
export const sentence = (line) => {
  const text = line.charAt(0).toUpperCase() + line.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
};

export const servers = { tigervnc: "TigerVNC", x11vnc: "x11vnc (slower)" };
