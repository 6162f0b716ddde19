"use strict";
for (const id of ["allow", "deny"]) {
  document.getElementById(id).addEventListener("click", () => {
    window.opener.postMessage(id, location.origin);
    window.close();
  });
}
