"use strict";
const wanted = new URLSearchParams(location.search);
for (const field of document.querySelectorAll("input, textarea")) {
  field.addEventListener("input", () => report("field", { name: field.id, value: field.value }));
  field.addEventListener("focus", () => report("focus", { name: field.id }));
}
document.getElementById("nopaste").addEventListener("paste", (event) => {
  event.preventDefault();
  report("paste-refused");
});
addEventListener("copy", () => report("copy", { text: String(getSelection()) }));
if (wanted.has("focus")) document.getElementById(wanted.get("focus"))?.focus();
if (wanted.has("keys")) {
  addEventListener("keydown", (e) => report("key", { key: e.key, code: e.code, shift: e.shiftKey, ctrl: e.ctrlKey, alt: e.altKey }));
}
