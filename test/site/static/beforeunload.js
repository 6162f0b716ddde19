"use strict";
// A browser asks only on a page that its person has touched.
const guard = document.getElementById("guard");
function arm() {
  if (guard.textContent === "on") return;
  guard.textContent = "on";
  addEventListener("beforeunload", (event) => {
    event.preventDefault();
    event.returnValue = "unsaved";
  });
  report("guard", { on: true });
}
addEventListener("pointerdown", arm);
addEventListener("keydown", arm);
