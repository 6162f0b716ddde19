// A picture that changes wholly with each frame. The number of the frame stands in clear, and as 24 cells of 16 CSS
// pixels in the top left corner, most significant first, white is 1, for a test that sees only pixels.
"use strict";
const canvas = document.getElementById("sea");
const context = canvas.getContext("2d");
const count = document.getElementById("count");
let frame = 0;
let seed = 1;

function fit() {
  canvas.width = innerWidth;
  canvas.height = innerHeight;
}
function random() {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed;
}
function draw() {
  frame++;
  seed = frame;
  for (let y = 0; y < canvas.height; y += 16) {
    for (let x = 0; x < canvas.width; x += 16) {
      context.fillStyle = "#" + (random() >>> 8).toString(16).padStart(6, "0");
      context.fillRect(x, y, 16, 16);
    }
  }
  for (let bit = 0; bit < 24; bit++) {
    context.fillStyle = (frame >> (23 - bit)) & 1 ? "#ffffff" : "#000000";
    context.fillRect(bit * 16, 0, 16, 16);
  }
  count.textContent = frame;
  requestAnimationFrame(draw);
}
addEventListener("resize", fit);
addEventListener("keydown", (e) => report("key", { key: e.key, frame }));
addEventListener("pointerdown", (e) => report("press", { x: e.clientX, y: e.clientY, frame }));
fit();
draw();
