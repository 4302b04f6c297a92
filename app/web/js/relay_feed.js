// One relay's scores: what it has, page by page, then what comes. No word of it is believed, and what it can
// cost is bounded.

import { Question, parseMessage } from "./question.js";
import { DELETION, KIND } from "./verify.js";

const PAGE = 500;
const MAX_PAGES = 30;
const SMALLEST_CAP = 100; // no relay in use gives fewer at once, so a smaller page is all there is
const MAX_MESSAGES = 20_000; // a minute
const MAX_CHARACTERS = 50_000_000; // a minute; as many messages of scores have a fifth of it
const MAX_FORGERIES = 20;
const ANSWER_MS = 8_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
const LIVE = "scores";
const OLDER = "older";

/** What a signature covers, and itself: whatever else a relay adds to an event is nobody's word. */
const signedPart = ({ id, pubkey, created_at, kind, tags, content, sig }) => ({
  id,
  pubkey,
  created_at,
  kind,
  tags,
  content,
  sig,
});

const newPage = (place) => ({ size: 0, fresh: 0, oldest: Infinity, ...place });

export class RelayFeed {
  /** Where it stands: connecting, reading, live, away (it is tried again) or dropped (it is not). */
  state = "connecting";
  /** Why it is not all there; empty if it is. */
  note = "";
  /** Whether it has told all it has. */
  complete = false;

  #keys;
  #onEvent;
  #onChange;
  #socket = null;
  #deadline = 0;
  #nextTry = 0;
  #messages = 0;
  #characters = 0;
  #minute = 0;
  #forgeries = 0;
  #retryMs = FIRST_RETRY_MS;
  #page = null;
  #notAll = "";
  #question = null;
  #seen = new Set();

  /**
   * @param {string} url
   * @param {string[]} keys
   * @param {(event: object, feed: RelayFeed) => void} onEvent gets each event once, unchecked, without what no signature covers
   * @param {() => void} onChange is called when state, note or complete have changed
   */
  constructor(url, keys, onEvent, onChange) {
    this.url = url;
    this.#keys = keys;
    this.#onEvent = onEvent;
    this.#onChange = onChange;
  }

  /** Whether it has said all it will for now: everything, or that it cannot. */
  get settled() {
    return this.complete || this.note !== "";
  }

  connect() {
    this.#become("connecting");
    this.#await("gave no answer");
    let socket;
    try {
      socket = new WebSocket(this.url);
    } catch {
      this.drop("cannot be reached from this page");
      return;
    }
    this.#socket = socket;
    const ours = (handle) => (event) => this.#socket === socket && handle(event);
    socket.onopen = ours(() => {
      this.#become("reading");
      this.#await("stopped answering");
      this.#page = newPage({ until: Infinity, largest: 0, count: 0 });
      this.#notAll = "";
      this.#ask(LIVE, {});
    });
    socket.onmessage = ours(({ data }) => this.#read(data));
    socket.onclose = ours(() => this.#retry("cannot be reached"));
  }

  /** Try again now, if it is away. */
  wake() {
    if (this.state !== "away") return;
    clearTimeout(this.#nextTry);
    this.connect();
  }

  /** Hear no more of it. */
  drop(note) {
    this.#hangUp();
    this.note = note;
    this.#become("dropped");
  }

  /** It has sent an event that claims to be the app's and is not. Who keeps doing so is dropped. */
  forged() {
    if (++this.#forgeries >= MAX_FORGERIES) this.drop("sends forged scores");
  }

  /**
   * What it stores for another filter, up to so many events, unchecked but wanted; null if it does not say all, or
   * is not live. One question at a time.
   */
  async ask(filter, isWanted, most) {
    if (this.state !== "live") return null;
    const question = new Question(isWanted, most);
    this.#question = question;
    this.#socket.send(question.request(filter));
    const events = await question.answer;
    if (this.#question === question) {
      this.#question = null;
      this.#socket.send(JSON.stringify(["CLOSE", question.name]));
    }
    return events && events.map(signedPart);
  }

  #ask(subscription, more) {
    const filter = { kinds: [KIND, DELETION], authors: this.#keys, limit: PAGE, ...more };
    this.#socket.send(JSON.stringify(["REQ", subscription, filter]));
  }

  #read(data) {
    const minute = Math.floor(Date.now() / 60_000);
    if (minute !== this.#minute) [this.#minute, this.#messages, this.#characters] = [minute, 0, 0];
    this.#messages++;
    this.#characters += data.length ?? data.size; // a text, or a Blob
    if (this.#messages > MAX_MESSAGES || this.#characters > MAX_CHARACTERS) return this.drop("sends too much");
    const [type, subscription, event] = parseMessage(data) ?? [];
    if (this.#question !== null && subscription === this.#question.name) return this.#question.read(type, event);
    const asked = subscription === LIVE || (subscription === OLDER && this.#page !== null);
    if (type === "EVENT" && asked) this.#receive(event);
    else if (type === "EOSE" && asked && this.#page !== null) this.#endPage();
    else if (type === "CLOSED" && subscription === LIVE) this.#retry("closed the subscription");
    else if (type === "CLOSED" && asked) this.#finish("does not give all its older scores");
    return undefined;
  }

  #receive(event) {
    // Cheap checks first: no signature is looked at for what nobody asked for.
    const wanted = (event?.kind === KIND || event?.kind === DELETION) && this.#keys.includes(event.pubkey);
    if (!wanted || !Number.isInteger(event.created_at) || !Array.isArray(event.tags)) return;
    if (!event.tags.every(Array.isArray)) return;
    // An id alone is not enough: a forgery may carry the id of the real event.
    const key = `${event.id}${event.sig}`;
    const page = this.#page;
    if (page !== null) {
      page.size++;
      page.oldest = Math.min(page.oldest, event.created_at);
      if (!this.#seen.has(key)) page.fresh++;
    }
    if (this.#seen.has(key)) return;
    if (this.#seen.size >= MAX_MESSAGES) this.#seen.clear();
    this.#seen.add(key);
    this.#onEvent(signedPart(event), this);
  }

  /** After a page: ask for the next older one, until one brings nothing new. */
  #endPage() {
    const { size, fresh, oldest, until, largest, count } = this.#page;
    const crowded = fresh === 0 && size >= Math.max(largest, SMALLEST_CAP);
    if (crowded) this.#notAll = "has more scores in one second than it gives";
    if (size === 0 || (fresh === 0 && !crowded)) return this.#finish(this.#notAll);
    if (oldest > until || count >= MAX_PAGES) return this.#finish("does not give all its older scores");
    const next = crowded ? oldest - 1 : oldest; // the same second again, as it may not be through
    this.#page = newPage({ until: next, largest: Math.max(largest, size), count: count + 1 });
    this.#await("stopped answering");
    return this.#ask(OLDER, { until: next });
  }

  #finish(note) {
    clearTimeout(this.#deadline);
    this.#page = null;
    this.#socket.send(JSON.stringify(["CLOSE", OLDER]));
    this.#retryMs = FIRST_RETRY_MS;
    this.note = note;
    this.complete = note === "";
    this.#become("live");
  }

  #await(note) {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(() => this.#retry(note), ANSWER_MS);
  }

  #retry(note) {
    this.#hangUp();
    this.note = note;
    this.complete = false;
    this.#become("away");
    this.#nextTry = setTimeout(() => this.connect(), this.#retryMs * (0.5 + Math.random() / 2));
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
  }

  #hangUp() {
    clearTimeout(this.#deadline);
    const socket = this.#socket;
    this.#socket = null;
    this.#page = null;
    this.#question?.drop();
    this.#question = null;
    socket?.close();
  }

  #become(state) {
    this.state = state;
    this.#onChange();
  }
}
