// What both sides can see of a hand: everything follows from the card under the stock and the plays so far.

import { suit, takes, worth } from "./rules.js";

export const PLIES = 40;
const STOCK = 34; // the turned-up card is counted, and drawn last
const HAND = 3;
const WIN = 61;

export const other = (side) => (side === "player" ? "computer" : "player");

/** Who takes a trick of two plays, and the points in it. */
export function settle([[leader, led], [, reply]], trump) {
  return { taker: takes(reply, led, trump) ? other(leader) : leader, points: worth(led) + worth(reply) };
}

/**
 * The table after these plays.
 *
 * @param {string} faceUp the card under the stock
 * @param {[("player"|"computer"), string][]} plays in order; the player leads the deal
 * @returns `table` holds the trick so far, `toMove` is null once every card is played, `computerCards` is how many
 *   the computer holds
 */
export function standing(faceUp, plays) {
  const trump = suit(faceUp);
  const points = { player: 0, computer: 0 };
  let table = [];
  let toMove = "player";
  for (const play of plays) {
    table.push(play);
    if (table.length === 1) toMove = other(play[0]);
    else {
      const trick = settle(table, trump);
      points[trick.taker] += trick.points;
      toMove = trick.taker;
      table = [];
    }
  }
  const tricks = Math.floor(plays.length / 2);
  const played = table.some(([side]) => side === "computer") ? 1 : 0;
  return {
    trump,
    points,
    table,
    toMove: plays.length === PLIES ? null : toMove,
    stock: Math.max(0, STOCK - 2 * tricks),
    computerCards: Math.min(HAND, PLIES / 2 - tricks) - played,
  };
}

/** Who has won with these points: "player", "computer", or null at sixty all. */
export function winner(points) {
  if (points.player >= WIN) return "player";
  return points.computer >= WIN ? "computer" : null;
}
