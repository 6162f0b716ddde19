"use strict";
const answer = document.getElementById("answer");
document.getElementById("open").addEventListener("click", () => {
  const child = window.open("/consent", "consent", "popup,width=480,height=560");
  report("popup", { opened: child !== null });
});
addEventListener("message", (event) => {
  if (event.origin !== location.origin) return;
  answer.textContent = event.data;
  report("popup", { answer: event.data });
});
