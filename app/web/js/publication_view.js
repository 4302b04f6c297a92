// After a hand that counts: the score on its way to each relay, its checks, its place, and the hand verified.

import { countPoints } from "./card_names.js";
import { field, showVerdict } from "./checks_view.js";
import { checkHand } from "./hand_check.js";
import { readBack } from "./question.js";
import { verify } from "./verify.js";

const LOOK_MS = 1_000;
const LOOKS = 60;
const UNPUBLISHED = {
  waiting: "Your name is published faster than the clock goes: the score comes by itself in a moment.",
  "not-improved": "Your score on the board is as good or better, so it stays.",
  "name-taken": "The name belongs to another player by now, so nothing was published.",
  "key-revoked": "The key that opened this hand was revoked, so nothing was published.",
  "name-banned": "The name is banned here, so nothing was published.",
};
const STATES = {
  pending: "on its way…",
  accepted: "taken; read back by this browser…",
  superseded: "has a newer score of yours",
  conflict: "has another score of yours",
};

export class PublicationView {
  #part = document.querySelector("#published");
  #checks = document.querySelector("#checks");
  #replayed = document.querySelector("#replayed");
  #api;
  #keys;
  #root;
  #match = null;
  #seen = new Map(); // by relay: what came back

  constructor(api, keys, root) {
    this.#api = api;
    this.#keys = keys;
    this.#root = root;
    document.querySelector("#verify").addEventListener("click", () => void this.#verify());
  }

  hide() {
    this.#match = null;
    this.#part.hidden = true;
  }

  /** @param {import("./server_match.js").ServerMatch} match that is over */
  async show(match) {
    this.#match = match;
    this.#seen.clear();
    this.#part.hidden = false;
    this.#replayed.hidden = true;
    this.#checks.hidden = true;
    field(this.#part, "arrivals").replaceChildren();
    field(this.#part, "place").textContent = "";
    document.querySelector("#transcript").href = `${this.#root}/v1/matches/${match.ticket.match}/transcript`;
    for (let look = 0; look < LOOKS && this.#match === match; look++) {
      // What cannot be asked now is asked at the next look.
      if (await this.#look(match).catch(() => false)) return;
      await new Promise((resume) => setTimeout(resume, LOOK_MS));
    }
  }

  /** Look how things stand; whether there is nothing more to wait for. */
  async #look(match) {
    const { unpublished } = match.result;
    this.#say(unpublished === null ? "" : UNPUBLISHED[unpublished]);
    if (match.result.forfeit !== null) {
      this.#say("A hand that was given up has no score. Its seeds are open now, and its transcript is kept.");
      return true;
    }
    if (match.result.score === null) {
      if (unpublished === "waiting") await match.refresh();
      return unpublished !== null && unpublished !== "waiting";
    }
    const score = await this.#api.call(`/v1/scores/${match.result.score}`);
    if (this.#match !== match) return true;
    showVerdict(this.#checks.querySelector(".verdict"), verify(score.event, new Set(this.#keys)));
    this.#checks.hidden = false;
    this.#showRelays(score, match);
    const placed = await this.#showPlace(match);
    const waiting = score.relays.some(({ url, state }) => state === "pending" || (state === "accepted" && !this.#seen.has(url)));
    return placed && !waiting;
  }

  #showRelays({ relays, event }, match) {
    const list = field(this.#part, "arrivals");
    for (const { url, state, message } of relays) {
      const item = [...list.children].find((one) => one.dataset.url === url) ?? this.#newRelay(list, url);
      if (this.#seen.get(url)) continue; // seen with our own eyes: no state says more
      item.dataset.state = { pending: "open", accepted: "open" }[state] ?? "fail";
      field(item, "says").textContent = [STATES[state] ?? state, message].filter(Boolean).join(" · ");
      if (state === "accepted" && !this.#seen.has(url)) void this.#readBack(url, event, item, match);
    }
  }

  async #readBack(url, event, item, match) {
    this.#seen.set(url, null);
    const found = await readBack(url, event.id);
    if (this.#match !== match) return;
    const verdict = verify(found, new Set(this.#keys));
    const whole = verdict.ok && verdict.consistent && verdict.id === event.id;
    this.#seen.set(url, whole);
    item.dataset.state = whole ? "pass" : "open";
    field(item, "says").textContent = whole
      ? "read back and verified in this browser"
      : "taken, as the server says; this browser could not read it back";
  }

  #newRelay(list, url) {
    const item = document.querySelector("#arrival").content.firstElementChild.cloneNode(true);
    item.dataset.url = url;
    field(item, "url").textContent = url;
    list.append(item);
    return item;
  }

  async #showPlace(match) {
    const name = encodeURIComponent(match.username);
    const { entries } = await this.#api.call(`/v1/leaderboard?limit=1&around=${name}`);
    const entry = entries.find(({ event_id: id }) => id === match.result.score);
    if (entry === undefined || this.#match !== match) return false;
    const link = document.createElement("a");
    link.href = `${this.#root}/?q=${name}`;
    link.textContent = `Place ${entry.rank} on the leaderboard`;
    field(this.#part, "place").replaceChildren(link, ` with ${countPoints(entry.score)}.`);
    return true;
  }

  async #verify() {
    const { ticket, plays } = this.#match;
    const show = (sum, state, lines) => {
      this.#replayed.dataset.state = state;
      field(this.#replayed, "replayed").textContent = sum;
      const items = lines.map((line) => {
        const item = document.createElement("li");
        item.textContent = line;
        return item;
      });
      field(this.#replayed, "replay").replaceChildren(...items);
      this.#replayed.hidden = false;
    };
    try {
      const event = await this.#api.call(`/v1/matches/${ticket.match}/transcript`);
      const { ok, lines } = checkHand(JSON.stringify(event), this.#keys, { ticket, plays });
      if (ok) show("Verified: dealt and played by the rules.", "pass", lines);
      else show("This transcript does not hold.", "fail", lines);
    } catch (error) {
      show("The transcript could not be fetched.", "open", [error.message]);
    }
  }

  #say(text) {
    field(this.#part, "published").textContent = text;
  }
}
