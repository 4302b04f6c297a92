// How a hand ended, shown on the cloth in the cards' place.

import { field } from "./checks_view.js";
import { commentOn, recordLine, titleOf } from "./outcome_words.js";

const FORFEITS = {
  resigned: "You gave this hand up",
  expired: "This hand has expired",
};

export class OutcomeView {
  #part = document.querySelector("#outcome");
  #felt = document.querySelector("#felt");

  hide() {
    this.#part.hidden = true;
    this.#felt.classList.remove("over");
  }

  /** A hand that was played to its end, and the record if it was just now; gives what is shown, in one text. */
  showEnd(points, record) {
    return this.#show(titleOf(points), commentOn(points), record === undefined ? "" : recordLine(record));
  }

  /** A hand that was not played to its end; likewise. */
  showForfeit(how) {
    return this.#show(FORFEITS[how], "It counts as forfeited.", "");
  }

  #show(title, comment, record) {
    for (const [name, text] of Object.entries({ title, comment, record })) field(this.#part, name).textContent = text;
    this.#part.hidden = false;
    this.#felt.classList.add("over");
    return [`${title}.`, comment, record].filter(Boolean).join(" ");
  }
}
