// The board of verified scores: the newest per player, ranked; app/scores/leaderboard.py once more.

import { DELETION, KIND, signatureFault, tagValue, verify } from "./verify.js";

/** Seconds that an event may be ahead of the clock; one that is further waits until it is not. */
const AHEAD = 15 * 60;

export class Board {
  #keys;
  #newest = new Map(); // by d, deleted ones too: older versions do not come back
  #deletedUntil = new Map(); // by d
  #deletedIds = new Set();
  #early = new Map(); // by id

  /** @param {Iterable<string>} keys the app's public keys in hex */
  constructor(keys) {
    this.#keys = new Set(keys);
  }

  /** How many events wait because they are too far ahead of the clock. */
  get early() {
    return this.#early.size;
  }

  /** Whether an event is old news, whatever its signature says: no signature is looked at for it. */
  isOld(event) {
    if (event.kind !== KIND) return false;
    const newest = this.#newest.get(tagValue(event, "d"));
    return newest !== undefined && !isNewer(event, newest.event);
  }

  /**
   * Take an event at a unix time, if it is one of the app's and its signature holds; scores must pass all
   * checks and agree with themselves.
   * @returns {boolean} false if it is a forgery: all but its signature speaks for it
   */
  add(event, now) {
    const entry = event.kind === DELETION ? this.#readDeletion(event) : this.#readScore(event);
    if (entry === null) return true;
    if (entry === "forged") return false;
    if (event.created_at > Math.floor(now) + AHEAD) this.#early.set(event.id, entry);
    else this.#take(entry);
    return true;
  }

  /** Let in what is no longer too far ahead. */
  advance(now) {
    for (const [id, entry] of this.#early) {
      if (entry.createdAt > Math.floor(now) + AHEAD) continue;
      this.#early.delete(id);
      this.#take(entry);
    }
  }

  /**
   * The scores from `since` on that count, best first: ties by the earlier time, then by the lower id. Equal
   * scores share a rank, and the next one counts them all: 1, 2, 2, 4.
   */
  rows(since = 0, counts = () => true) {
    const rows = [...this.#newest.values()].filter(
      (row) => row.createdAt >= since && !this.#isDeleted(row) && counts(row),
    );
    rows.sort((a, b) => b.score - a.score || a.createdAt - b.createdAt || (a.event.id < b.event.id ? -1 : 1));
    let rank = 0;
    return rows.map((row, i) => {
      if (i === 0 || rows[i - 1].score !== row.score) rank = i + 1;
      return { ...row, rank };
    });
  }

  #readScore(event) {
    const verdict = verify(event, this.#keys);
    if (verdict.failed === "signature") return "forged";
    if (!verdict.ok || !verdict.consistent) return null;
    const { username, score } = verdict;
    return { d: tagValue(event, "d"), username, score, createdAt: event.created_at, event };
  }

  #readDeletion(event) {
    if (!this.#keys.has(event.pubkey)) return null;
    if (signatureFault(event) !== null) return "forged";
    const addresses = tagValues(event, "a").map((address) => address.split(":"));
    const names = addresses
      .filter(([kind, pubkey, ...d]) => kind === String(KIND) && this.#keys.has(pubkey) && d.length > 0)
      .map(([, , ...d]) => d.join(":"));
    return { createdAt: event.created_at, names, ids: tagValues(event, "e") };
  }

  #take(entry) {
    if (entry.event === undefined) {
      for (const d of entry.names)
        this.#deletedUntil.set(d, Math.max(entry.createdAt, this.#deletedUntil.get(d) ?? -1));
      for (const id of entry.ids) this.#deletedIds.add(id);
    } else if (!this.isOld(entry.event)) this.#newest.set(entry.d, entry);
  }

  #isDeleted({ d, createdAt, event }) {
    return this.#deletedIds.has(event.id) || createdAt <= (this.#deletedUntil.get(d) ?? -1);
  }
}

const tagValues = (event, name) =>
  event.tags.filter((tag) => tag[0] === name && tag.length > 1).map((tag) => tag[1]);

/** NIP-01: the later one is newer, and of two of one second the one with the lower id. */
function isNewer(event, than) {
  return event.created_at === than.created_at ? event.id < than.id : event.created_at > than.created_at;
}
