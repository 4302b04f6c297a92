// A deck from one 32-byte seed: the same stream and the same shuffle as app/briscola/shuffle.py, which
// describes both.

import { sha256 } from "./sha256.js";

const WORD_RANGE = 2 ** 32;

/** The forty cards in the order a shuffle starts from: B1 … B10, C1 … S10. */
export const DECK = ["B", "C", "D", "S"].flatMap((suit) =>
  Array.from({ length: 10 }, (_, i) => `${suit}${i + 1}`),
);

/** Numbers that follow from a seed alone; `purpose` keeps independent users of one seed apart. */
export class RandomSource {
  #input;
  #block = 0;
  #words = [];

  /** @param {Uint8Array} seed 32 bytes @param {Uint8Array} purpose */
  constructor(seed, purpose = new Uint8Array()) {
    // Anything else might be read as zeros.
    if (!(seed instanceof Uint8Array)) throw new TypeError("a seed is a Uint8Array");
    if (seed.length !== 32) throw new RangeError(`a seed has 32 bytes, not ${seed.length}`);
    this.#input = new Uint8Array(32 + purpose.length + 4);
    this.#input.set(seed);
    this.#input.set(purpose, 32);
  }

  /** The next 32-bit word of the stream. */
  word() {
    if (this.#words.length === 0) {
      new DataView(this.#input.buffer).setUint32(this.#input.length - 4, this.#block++);
      const block = new DataView(sha256(this.#input).buffer);
      for (let at = 28; at >= 0; at -= 4) this.#words.push(block.getUint32(at));
    }
    return this.#words.pop();
  }

  /** A number from 0 to n - 1, each as likely as any other. */
  randbelow(n) {
    if (!Number.isInteger(n) || n < 1 || n > WORD_RANGE) throw new RangeError(`cannot draw below ${n}`);
    const limit = WORD_RANGE - (WORD_RANGE % n);
    let word;
    do word = this.word();
    while (word >= limit);
    return word % n;
  }

  /** One of `items`, each as likely as any other. */
  choice(items) {
    return items[this.randbelow(items.length)];
  }

  /** A new array of `items` in an order of which each is as likely as any other. */
  shuffled(items) {
    const order = [...items];
    for (let i = order.length - 1; i > 0; i--) {
      const j = this.randbelow(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    return order;
  }
}

/** The deck that follows from `seed`. @param {Uint8Array} seed 32 bytes @returns {string[]} */
export const shuffledDeck = (seed) => new RandomSource(seed).shuffled(DECK);
