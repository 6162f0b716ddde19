"use strict";
function show() {
  document.getElementById("visible").textContent = document.visibilityState;
  document.getElementById("name").textContent = window.name || "none";
}
document.addEventListener("visibilitychange", show);
show();
