// Questions to relays (NIP-01): what one stores for a filter, and no more. Nothing that comes is believed.

const ANSWER_MS = 8_000;
const MAX_MESSAGE = 128 * 1024; // characters
let asked = 0;

/** A relay's message as an array; null for what is none, or too long to be one of ours. */
export function parseMessage(data) {
  if (typeof data !== "string" || data.length > MAX_MESSAGE) return null;
  try {
    const message = JSON.parse(data);
    return Array.isArray(message) ? message : null;
  } catch {
    return null;
  }
}

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

  /** The request that asks it. */
  request(filter) {
    return JSON.stringify(["REQ", this.name, { ...filter, limit: this.#most }]);
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

/** The event of this id as a relay has it, asked over a connection of its own; null if it has none, or does not answer. */
export async function readBack(url, id) {
  const question = new Question((event) => event?.id === id, 1);
  let socket;
  try {
    socket = new WebSocket(url);
  } catch {
    question.drop();
    return null;
  }
  socket.onopen = () => socket.send(question.request({ ids: [id] }));
  socket.onclose = () => question.drop();
  socket.onmessage = ({ data }) => {
    const [type, subscription, event] = parseMessage(data) ?? [];
    if (subscription === question.name) question.read(type, event);
  };
  const [event = null] = (await question.answer) ?? [];
  socket.close();
  return event;
}
