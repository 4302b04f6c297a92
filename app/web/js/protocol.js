// The page /protocol: what is pasted is checked here, as it is typed.

import { clearVerdict, field, showVerdict } from "./checks_view.js";
import { verifyText } from "./verify.js";

const { keys } = JSON.parse(document.querySelector("main").dataset.protocol);
const appKeys = new Set(keys);
const form = document.querySelector(".paste");
const pasted = form.elements.event;
const verdict = document.querySelector("#result .verdict");

function check() {
  if (pasted.value.trim() === "") clearVerdict(verdict);
  else showVerdict(verdict, verifyText(pasted.value, appKeys));
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  check();
});
pasted.addEventListener("input", check);
field(document, "where").textContent = "in your browser";
check();
