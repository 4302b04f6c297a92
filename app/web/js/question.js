// A question to a relay beside the scores that it streams (NIP-01): what it stores for a filter, and no more.

const ANSWER_MS = 8_000;
let asked = 0;

export class Question {
  /** Its subscription: a new one each time, so that a late answer to another is none to this. */
  name = `question-${++asked}`;
  /** Resolves to the events, unchecked; to null if the relay does not say all it has. */
  answer;

  #end;
  #events = [];
  #isWanted;
  #most;

  /** @param {(event: unknown) => boolean} isWanted @param {number} most events that are taken */
  constructor(isWanted, most) {
    this.#isWanted = isWanted;
    this.#most = most;
    this.answer = new Promise((resolve) => {
      const deadline = setTimeout(() => this.drop(), ANSWER_MS);
      this.#end = (events) => {
        clearTimeout(deadline);
        resolve(events);
      };
    });
  }

  /** A message of the relay's to this subscription. */
  read(type, event) {
    if (type === "CLOSED") this.drop();
    else if (type === "EOSE") this.#end(this.#events);
    else if (type === "EVENT" && this.#isWanted(event) && this.#events.push(event) >= this.#most)
      this.#end(this.#events);
  }

  /** Wait no longer. */
  drop() {
    this.#end(null);
  }
}
