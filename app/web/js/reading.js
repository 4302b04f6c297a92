// All relays read into one board: every signature is checked here, a few at a time, to keep the page alive.

import { Board } from "./ranking.js";
import { RelayFeed } from "./relay_feed.js";

const SLICE_MS = 8;

export class Reading {
  /** Events that were refused because their signature does not hold. */
  forged = 0;

  #queues = new Map(); // by source: events that wait to be verified
  #working = false;
  #onChange;

  /**
   * @param {{relays: string[], keys: string[]}} protocol
   * @param {object[]} events what is known without the relays; verified like everything else
   * @param {() => void} onChange is called whenever there may be something new to show
   */
  constructor({ relays, keys }, events, onChange) {
    this.board = new Board(keys);
    this.#onChange = onChange;
    this.#queues.set(null, [...events]);
    const take = (event, feed) => {
      const queue = this.#queues.get(feed);
      if (queue === undefined) this.#queues.set(feed, [event]);
      else queue.push(event);
      this.#work();
    };
    this.feeds = relays.map((url) => new RelayFeed(url, keys, take, onChange));
  }

  start() {
    for (const feed of this.feeds) feed.connect();
    this.#work();
  }

  /** Try those that are away at once: the network may be back. */
  wake() {
    for (const feed of this.feeds) feed.wake();
  }

  /** Whether every relay has said all it will for now. */
  get settled() {
    return this.feeds.every((feed) => feed.settled);
  }

  /** Whether every relay has told all it has. */
  get complete() {
    return this.feeds.every((feed) => feed.complete);
  }

  /** Whether there is a board to stand by: a relay has answered, or none will, and all that came is verified. */
  get ready() {
    const heard = this.feeds.some((feed) => feed.state === "live") || this.settled;
    return heard && this.#queues.size === 0;
  }

  async #work() {
    if (this.#working) return;
    this.#working = true;
    while (this.#queues.size > 0) {
      this.#verifySlice();
      this.#onChange();
      await new Promise((resume) => setTimeout(resume));
    }
    this.#working = false;
    this.#onChange();
  }

  /** In turns, so that a relay that floods delays no other. */
  #verifySlice() {
    const end = performance.now() + SLICE_MS;
    while (performance.now() < end && this.#queues.size > 0) {
      for (const [feed, queue] of this.#queues) {
        const event = queue.shift();
        if (event === undefined || feed?.state === "dropped") this.#queues.delete(feed);
        else this.#judge(event, feed);
      }
    }
  }

  #judge(event, feed) {
    if (this.board.isOld(event) || this.board.add(event, Date.now() / 1000)) return;
    this.forged++;
    feed?.forged();
  }
}
