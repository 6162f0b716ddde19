"use strict";
const dialogs = {
  alert: () => window.alert("The ferry leaves at nine."),
  confirm: () => window.confirm("Send the letter?"),
  prompt: () => window.prompt("Name of your boat?", ""),
};
function open(kind) {
  report("dialog-opening", { kind });
  const result = String(dialogs[kind]());
  document.getElementById("result").textContent = result;
  report("dialog", { kind, result });
}
for (const kind of Object.keys(dialogs)) document.getElementById(kind).addEventListener("click", () => open(kind));
const wanted = new URLSearchParams(location.search).get("open");
// After a turn of the event loop the first reports are on their way: an open dialog stops the page.
if (dialogs[wanted]) addEventListener("load", () => setTimeout(() => open(wanted), 100));
