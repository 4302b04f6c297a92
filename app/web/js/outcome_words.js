// How a hand ended, in words (seed 002).

import { countPoints } from "./card_names.js";
import { winner } from "./standing.js";

/** @param {{player: number, computer: number}} points */
export function titleOf(points) {
  const { player, computer } = points;
  const by = winner(points);
  if (by === null) return "Sixty all";
  return by === "player" ? `You win, ${player} to ${computer}` : `The computer wins, ${computer} to ${player}`;
}

export function commentOn(points) {
  const by = winner(points);
  if (by === null) return "A draw is nobody’s win.";
  return by === "computer" ? "The four aces and four threes hold 84 of the 120 points." : "";
}

/** What this browser remembers. @param {{best: number, hands: number, won: number}} record */
export const recordLine = ({ best, hands, won }) =>
  `Best ${countPoints(best)}, ${won} of ${hands} ${hands === 1 ? "hand" : "hands"} won.`;
