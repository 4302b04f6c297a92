// Which scores are proved. Relays are asked for transcripts of those that are looked at, and what they send is
// replayed here, one hand at a time; nobody's word is taken for it.

import { replayed } from "./hand_check.js";
import { KIND } from "./transcript.js";
import { signatureFault, tagValue } from "./verify.js";

const BATCH = 50; // scores in one question
const PER_SCORE = 4; // a relay may keep some of other making beside the app's own
const REST_MS = 60_000; // for a relay that did not answer
const YOUNG_SECONDS = 600; // a transcript may come so much later than its score
const SOON_SECONDS = 2;
const GRACE_MS = 5_000; // for relays, before the server is asked for a transcript that it has just told of
const MAX_JUDGED = 5_000;

/**
 * What is known of a score's proof. `state` is
 * - `proved`: a transcript holds; with `level`, `match`, `exact` (false: all but the computer's choices), `lines`
 *   in words, and `transcript`
 * - `false`: the app signed a transcript that does not hold; `reasons` say why
 * - `told`: the server says that it is proved; with `level` and `match`
 * - `claimed`: nothing speaks for it
 * In the last two, `looked` is whether a relay was asked, and `forged` why what it sent was refused, if anything.
 */
export class Proofs {
  #feeds;
  #keys;
  #told;
  #transcripts;
  #onChange;
  #found = new Map(); // by score event id: `proved` and `false`
  #forged = new Map(); // by score event id: why
  #looked = new Set(); // score event ids
  #judged = new Set(); // ids and signatures of transcripts
  #asked = new Map(); // by feed: whether it is busy, and when to ask again by score event id
  #late = new Map(); // by score event id: when to fetch its transcript from the server
  #fetching = false;
  #alarm = 0;

  /**
   * @param {import("./relay_feed.js").RelayFeed[]} feeds
   * @param {string[]} keys the app's public keys
   * @param {{told: Map<string, {level: string, match: string}>, transcripts?: string}} server what it says, by score
   *   event id, and the address under which it keeps transcripts, if it does
   * @param {() => void} onChange is called whenever more is known, or it is time to look again
   */
  constructor(feeds, keys, { told, transcripts }, onChange) {
    this.#feeds = feeds;
    this.#keys = keys;
    this.#told = told;
    this.#transcripts = transcripts;
    this.#onChange = onChange;
    for (const feed of feeds) this.#asked.set(feed, { busy: false, again: new Map() });
  }

  /** What is known of a row's proof; see above. */
  of({ event: { id } }) {
    const found = this.#found.get(id);
    if (found !== undefined) return found;
    const told = this.#told.get(id);
    const state = told === undefined ? "claimed" : "told";
    return { state, ...told, looked: this.#looked.has(id), forged: this.#forged.get(id) ?? null };
  }

  /** Whether a row is proved, at this level if one is given. */
  isProved(row, level = "") {
    const proof = this.#found.get(row.event.id);
    return proof?.state === "proved" && (level === "" || proof.level === level);
  }

  /**
   * Ask the relays for what may prove these rows, as far as they have not said. Called again with every change.
   * @returns {boolean} whether they have said all they will for now
   */
  look(rows) {
    const open = rows.filter((row) => !this.isProved(row));
    const live = this.#feeds.filter((feed) => feed.state === "live");
    for (const feed of live) void this.#ask(feed, open);
    void this.#fetchLate(open);
    this.#wake(live, open);
    return live.every((feed) => !this.#asked.get(feed).busy);
  }

  /**
   * Hear from the server that rows of the API are proved. Relays are asked for them once more; a row that is `fresh`,
   * proved just now, has its transcript fetched from the server if none of them brings it.
   */
  tell(entries, fresh) {
    for (const { event_id: id, proof } of entries) {
      if (this.#told.has(id)) continue;
      this.#told.set(id, proof);
      for (const { again } of this.#asked.values()) again.delete(id);
      // Not all who look at a page should ask at once.
      if (fresh && this.#transcripts) this.#late.set(id, Date.now() + GRACE_MS * (1 + Math.random()));
    }
    this.#onChange();
  }

  /** Fetch the transcript of a row that the server told of; throws an Error that says why nothing is proved. */
  async fetch({ event: { id } }) {
    const answer = await fetch(`${this.#transcripts}${this.#told.get(id).match}/transcript`).catch(() => null);
    if (answer === null) throw new Error("This server cannot be reached: try again later.");
    if (!answer.ok) throw new Error(`This server gives no transcript (${answer.status}).`);
    this.#take(await answer.json(), id);
  }

  #take(event, id) {
    const hand = replayed(JSON.stringify(event), this.#keys);
    if (!hand.ok) throw new Error(`It does not hold: ${hand.lines.join("; ")}.`);
    if (hand.verdict.score_event !== id) throw new Error("It is the transcript of another score.");
    this.#found.set(id, proved(hand));
    this.#onChange();
  }

  /** Fetch what the relays had time enough for, one at a time and each once. */
  async #fetchLate(rows) {
    const row = rows.find(({ event }) => this.#late.get(event.id) <= Date.now());
    if (this.#fetching || row === undefined) return;
    this.#late.delete(row.event.id);
    this.#fetching = true;
    await this.fetch(row).catch(() => {}); // it can still be asked for beside the row's checks
    this.#fetching = false;
    this.#onChange();
  }

  async #ask(feed, rows) {
    const asked = this.#asked.get(feed);
    const now = Date.now();
    const isDue = ({ event }) => (asked.again.get(event.id) ?? 0) <= now;
    const isTold = ({ event }) => this.#told.has(event.id); // those are worth asking for first
    const due = rows.filter(isDue).sort((a, b) => isTold(b) - isTold(a)).slice(0, BATCH);
    if (asked.busy || due.length === 0) return;
    asked.busy = true;
    const ids = new Set(due.map(({ event }) => event.id));
    const filter = { kinds: [KIND], authors: this.#keys, "#e": [...ids] };
    const isWanted = (event) => this.#isTranscript(event) && ids.has(tagValue(event, "e"));
    const events = await feed.ask(filter, isWanted, PER_SCORE * ids.size);
    for (const row of due) {
      asked.again.set(row.event.id, events === null ? now + REST_MS : againAt(row, now));
      if (events !== null) this.#looked.add(row.event.id);
    }
    for (const event of events ?? []) {
      if (feed.state !== "live") break;
      if (this.#judge(event, feed)) await new Promise((resume) => setTimeout(resume));
    }
    asked.busy = false;
    this.#onChange();
  }

  #isTranscript(event) {
    return (
      event?.kind === KIND &&
      this.#keys.includes(event.pubkey) &&
      Array.isArray(event.tags) &&
      event.tags.every(Array.isArray)
    );
  }

  /** Replay a transcript, if it can add something; gives whether it was. */
  #judge(event, feed) {
    const score = tagValue(event, "e");
    // An id alone is not enough: a forgery may carry the id of the real event.
    const key = `${event.id}${event.sig}`;
    if (this.#judged.has(key) || this.#found.get(score)?.state === "proved") return false;
    if (this.#judged.size >= MAX_JUDGED) this.#judged.clear();
    this.#judged.add(key);
    const hand = replayed(JSON.stringify(event), this.#keys);
    if (hand.ok) this.#found.set(hand.verdict.score_event, proved(hand));
    else if (signatureFault(event) === null) this.#found.set(score, { state: "false", reasons: hand.lines });
    else {
      this.#forged.set(score, hand.lines);
      feed.forged();
    }
    return true;
  }

  /** Have it looked again when the first of the rows is due, at a relay or at the server. */
  #wake(feeds, rows) {
    clearTimeout(this.#alarm);
    const now = Date.now();
    const due = [this.#late, ...feeds.map((feed) => this.#asked.get(feed).again)];
    const times = due.flatMap((times) => rows.map(({ event }) => times.get(event.id) ?? 0));
    const next = Math.min(...times.filter((time) => time > now));
    if (next < Infinity) this.#alarm = setTimeout(this.#onChange, next - now);
  }
}

const proved = ({ verdict: { level, match, choices_checked: exact }, transcript, lines }) => ({
  state: "proved",
  level,
  match,
  exact,
  transcript,
  lines,
});

/** A young score is asked for again once it is twice as old. */
function againAt({ createdAt }, now) {
  const age = now / 1000 - createdAt;
  return age > YOUNG_SECONDS ? Infinity : now + 1000 * Math.max(age, SOON_SECONDS);
}
