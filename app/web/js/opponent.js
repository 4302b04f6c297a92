// Gentle, Normal and Sharp in whole numbers, as app/briscola/opponent.py plays them and describes them.

import { strength, suit, takes, worth } from "./rules.js";

// What a led plain card must be worth before a trump is spent on it.
const BARS = { gentle: 0, normal: 10, sharp: 4 };

/** The levels whose every choice follows from these rules. */
export const LEVELS = Object.keys(BARS);

const throwawayWeight = (card, trump) => 10 * worth(card) + strength(card) + (suit(card) === trump ? 500 : 0);
const winnerWeight = (card, trump) => worth(card) + strength(card) + (suit(card) === trump ? 50 : 0);

// Of equal weights `least` takes the first in hand order, `most` the last.
const least = (cards, weight) => cards.reduce((best, card) => (weight(card) < weight(best) ? card : best));
const most = (cards, weight) => cards.reduce((best, card) => (weight(card) >= weight(best) ? card : best));

/** The card that `level` plays for the seat to move of a hand of rules.js. */
export function choose(level, { hands, toMove, table, trump, stock }) {
  if (!LEVELS.includes(level)) throw new RangeError(`no exact level ${level}: there are ${LEVELS.join(", ")}`);
  const cards = hands[toMove];
  const throwaway = (card) => throwawayWeight(card, trump);
  if (table.length === 0) return (level === "sharp" && stock.length === 0 ? most : least)(cards, throwaway);
  const [led] = table;
  const winners = cards.filter((card) => takes(card, led, trump));
  if (winners.length > 0) {
    const cheapest = least(winners, (card) => winnerWeight(card, trump));
    const spendsTrump = suit(cheapest) === trump && suit(led) !== trump;
    if (!spendsTrump || worth(led) >= BARS[level]) return cheapest;
  }
  return least(cards, throwaway);
}
