// The table of the board: rows keep their elements, so that one that changes place can be seen moving there.

import { field } from "./checks_view.js";
import { showSeal } from "./proof_view.js";
import { showTime } from "./when.js";

const MOVE = { duration: 450, easing: "cubic-bezier(.2,.8,.2,1)" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class BoardView {
  #table = document.querySelector("#board");
  #body = this.#table.tBodies[0];
  #template = document.querySelector("#row").content.firstElementChild;
  #rows = new Map(); // by d: the element, and the row it shows
  #onOpen;

  /** @param {(row: object) => void} onOpen is called when somebody asks for the checks of a row */
  constructor(onOpen) {
    this.#onOpen = onOpen;
  }

  /** Show these rows, each with its `proof`, in this order. What changes moves and lights up if `lively`. */
  show(rows, lively) {
    const moving = lively && !still.matches;
    const before = moving ? this.#places() : new Map();
    const gone = new Set(this.#rows.keys());
    const elements = rows.map((row) => {
      gone.delete(row.d);
      return this.#update(row, lively);
    });
    for (const d of gone) this.#rows.delete(d);
    this.#arrange(elements);
    this.#table.hidden = rows.length === 0;
    if (moving) this.#move(before);
  }

  /** Say the times anew. */
  tick() {
    for (const { element, row } of this.#rows.values())
      showTime(element.querySelector("time"), row.createdAt);
  }

  #update(row, lively) {
    const known = this.#rows.get(row.d);
    const element = known?.element ?? this.#make(row.d);
    if (known?.row.rank !== row.rank) {
      element.dataset.rank = row.rank;
      field(element, "rank").textContent = row.rank;
    }
    if (known?.row.event.id !== row.event.id) {
      field(element, "username").textContent = field(element, "username").title = row.username;
      field(element, "score").textContent = row.score;
      element.querySelector(".bar rect").setAttribute("width", row.score);
      element.querySelector(".check").setAttribute("aria-label", `Checks of ${row.username}’s score`);
      showTime(element.querySelector("time"), row.createdAt);
      element.classList.remove("changed");
      if (lively) {
        void element.offsetWidth; // so that the animation starts again
        element.classList.add("changed");
      }
    }
    showSeal(element, row.proof);
    this.#rows.set(row.d, { element, row });
    return element;
  }

  #make(d) {
    const element = this.#template.cloneNode(true);
    const check = element.querySelector(".check");
    check.removeAttribute("href");
    check.setAttribute("role", "button");
    check.tabIndex = 0;
    const open = () => this.#onOpen(this.#rows.get(d).row);
    check.addEventListener("click", open);
    check.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      open();
    });
    return element;
  }

  /** Put the elements in order and touch only those out of place, so that none loses the focus. */
  #arrange(elements) {
    const wanted = new Set(elements);
    for (const element of [...this.#body.children]) if (!wanted.has(element)) element.remove();
    const focused = document.activeElement;
    elements.forEach((element, i) => {
      if (this.#body.children[i] !== element)
        this.#body.insertBefore(element, this.#body.children[i] ?? null);
    });
    if (focused !== document.activeElement && focused?.isConnected) focused.focus({ preventScroll: true });
  }

  #places() {
    return new Map([...this.#rows].map(([d, { element }]) => [d, element.getBoundingClientRect().top]));
  }

  #move(before) {
    const height = window.innerHeight;
    for (const [d, { element }] of this.#rows) {
      const top = element.getBoundingClientRect().top;
      if (!before.has(d)) element.animate([{ opacity: 0 }, { opacity: 1 }], MOVE);
      else if (before.get(d) !== top && Math.min(top, before.get(d)) < height) {
        const from = `translateY(${before.get(d) - top}px)`;
        element.animate([{ transform: from }, { transform: "none" }], MOVE);
      }
    }
  }
}
