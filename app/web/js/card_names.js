// The cards in words, as app/briscola/cards.py has them in English (the names of the French pack, seed 002).

import { suit, worth } from "./rules.js";

const SUITS = { B: "clubs", C: "hearts", D: "diamonds", S: "spades" };
const NUMBERS = { 1: "ace", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "jack", 9: "queen", 10: "king" };
const LETTERS = { 1: "A", 8: "J", 9: "Q", 10: "K" };

export const suitName = (letter) => SUITS[letter];

/** The number of a card, from 1 for the ace to 10 for the king. */
export const number = (card) => Number(card.slice(1));

/** What stands in the corner of a card. */
export const index = (card) => LETTERS[number(card)] ?? String(number(card));

/** `ace of clubs` */
export const cardName = (card) => `${NUMBERS[number(card)]} of ${suitName(suit(card))}`;

/** `ace of clubs, 11 points` */
export const cardLabel = (card) => `${cardName(card)}, ${countPoints(worth(card))}`;

export const countPoints = (count) => (count === 1 ? "1 point" : `${count} points`);
