// How a hand ended, in words.

import { countPoints } from "./card_names.js";
import { field } from "./checks_view.js";
import { winner } from "./standing.js";

const FORFEITS = {
  resigned: "You gave this hand up",
  expired: "This hand has expired",
};

export class OutcomeView {
  #part = document.querySelector("#result");

  hide() {
    this.#part.hidden = true;
  }

  /** A hand that was played to its end before; gives what was said, like the others. */
  showPoints(points) {
    return this.#show(titleOf(points), commentOn(points));
  }

  /** A hand that has just been played to its end, and the record with it. */
  showEnd(points, { best, hands, won }) {
    const so = `Best ${countPoints(best)}, ${won} of ${hands} ${hands === 1 ? "hand" : "hands"} won.`;
    return this.#show(titleOf(points), `${commentOn(points)} ${so}`.trim());
  }

  /** A hand that was not. */
  showForfeit(how) {
    return this.#show(FORFEITS[how], "It counts as forfeited.");
  }

  #show(title, line) {
    field(this.#part, "title").textContent = title;
    field(this.#part, "line").textContent = line;
    this.#part.hidden = false;
    this.#part.scrollIntoView({ block: "nearest" });
    return `${title}. ${line}`;
  }
}

function titleOf(points) {
  const { player, computer } = points;
  const by = winner(points);
  if (by === null) return "Sixty all";
  return by === "player" ? `You win, ${player} to ${computer}` : `The computer wins, ${computer} to ${player}`;
}

function commentOn(points) {
  const by = winner(points);
  if (by === null) return "A draw is nobody’s win.";
  return by === "computer" ? "The four aces and four threes hold 84 of the 120 points." : "";
}
