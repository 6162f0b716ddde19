"use strict";
const pier = document.getElementById("pier");
pier.addEventListener("change", () => {
  document.getElementById("chosen").textContent = pier.value;
  report("choice", { value: pier.value });
});
