// A hand against the computer in the page itself: nothing leaves the browser, and no network is needed.

import { choose } from "./opponent.js";
import { deal, play } from "./rules.js";
import { shuffledDeck } from "./shuffle.js";

const SIDES = ["player", "computer"];

export class SoloMatch {
  /** Every play so far, as [side, card]. */
  plays = [];
  #hand;

  /** @param {string} level an exact one @param {Uint8Array} seed 32 bytes that the deck follows from */
  constructor(level, seed = crypto.getRandomValues(new Uint8Array(32))) {
    this.level = level;
    this.#hand = deal(shuffledDeck(seed));
  }

  /** The card under the stock. */
  get faceUp() {
    return this.#hand.faceUp;
  }

  /** What the player holds. */
  get cards() {
    return this.#hand.hands[0];
  }

  /** Play a card of the player's; the computer then plays until the player is to move again. */
  async play(card) {
    this.#put(card);
    while (this.#hand.toMove === 1) this.#put(choose(this.level, this.#hand));
  }

  #put(card) {
    const side = SIDES[this.#hand.toMove];
    this.#hand = play(this.#hand, card);
    this.plays = [...this.plays, [side, card]];
  }
}
