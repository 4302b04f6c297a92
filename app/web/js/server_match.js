// A hand that the server deals and keeps: opened by a signed call, dealt from both sides' seeds, played with its token.
// Whatever is lost on the way is asked for again: a deal by its seed, a play by its ply.

import { hex } from "./commitment.js";
import { Refusal } from "./match_api.js";
import { KIND as OPENING_KIND, commitmentTags, statementTags } from "./opening.js";
import { signatureFault } from "./verify.js";

export class ServerMatch {
  #api;
  #patience;
  #keys;
  #access; // {token} or {signer}
  #document;

  /** What this browser must know to come back to the match, and to check it in the end. */
  ticket;

  constructor({ api, patience, keys }, ticket, access, document) {
    this.#api = api;
    this.#patience = patience;
    this.#keys = keys;
    this.#access = access;
    this.#document = document;
    this.ticket = ticket;
  }

  /**
   * Open a match and deal it; one of this name and level that is not finished is gone on with.
   *
   * @param server `api`, `patience` and `keys`, the app's public keys
   * @param {(ticket: object) => void} remember is called as soon as there is something to come back to
   */
  static async open(server, { signer, username, level }, remember) {
    const { api } = server;
    const begin = () => api.call("/v1/matches", { body: { username, level }, signer });
    let document;
    try {
      document = await begin();
    } catch (error) {
      if (error.slug !== "match-unfinished" || !error.problem.match) throw error;
      const path = `/v1/matches/${error.problem.match}`;
      document = await api.call(path, { signer });
      if (document.state === "committed") {
        // Its token was shown once. Nothing is dealt, so with another match the player need not sign each card.
        await api.call(`${path}/resign`, { body: {}, signer });
        document = await begin();
      }
    }
    const { token, ...known } = document;
    const ticket = {
      match: known.id,
      token: token ?? null,
      clientSeed: known.client_seed ?? hex(crypto.getRandomValues(new Uint8Array(32))),
      statement: null,
      commitment: known.commitment,
      commitmentEvent: known.commitment_event.id,
    };
    const match = new ServerMatch(server, ticket, token ? { token } : { signer }, known);
    if (match.state === "committed") {
      match.#checkCommitment();
      ticket.statement = await signer.sign(match.#statement());
    }
    remember(ticket);
    await match.#deal();
    return match;
  }

  /** Come back to a match. */
  static async resume(server, ticket, signer) {
    const access = ticket.token ? { token: ticket.token } : { signer };
    const path = `/v1/matches/${ticket.match}`;
    const document = await server.patience.of(() => server.api.call(path, access));
    const match = new ServerMatch(server, ticket, access, document);
    await match.#deal();
    return match;
  }

  get level() {
    return this.#document.level;
  }
  get username() {
    return this.#document.username;
  }
  get plays() {
    return this.#document.plays;
  }
  get faceUp() {
    return this.#document.observation.face_up;
  }
  get cards() {
    return this.#document.observation.hand;
  }
  /** committed, playing, finished, forfeited, or lapsed, which is forfeited before it was dealt */
  get state() {
    return this.#document.state;
  }
  /** How it ended, as the server has it; null until then. */
  get result() {
    return this.#document.result;
  }

  /** Play a card: the same ply is sent until it is answered. */
  async play(card) {
    const { length } = this.plays;
    try {
      this.#document = await this.#send("/plays", { card, ply: length + 1 });
    } catch (error) {
      // It was played on elsewhere, or has expired: what holds is what the server has.
      if (error instanceof Refusal) await this.refresh();
      throw error.slug === "wrong-ply" ? playedElsewhere() : error;
    }
    // The card was played before, and more after it.
    if (this.plays.slice(length + 1).some(([side]) => side === "player")) throw playedElsewhere();
  }

  async resign() {
    this.#document = await this.#send("/resign", {});
  }

  async refresh() {
    this.#document = await this.#send("");
  }

  async #deal() {
    if (this.state !== "committed") return;
    this.#document = await this.#send("/deal", {
      client_seed: this.ticket.clientSeed,
      statement: this.ticket.statement,
    });
  }

  #send(action, body) {
    const path = `/v1/matches/${this.ticket.match}${action}`;
    return this.#patience.of(() => this.#api.call(path, { body, ...this.#access }));
  }

  /** The commitment must be signed by the app before this side's seed is given away. */
  #checkCommitment() {
    const { id, level, player, username, commitment, commitment_event: event } = this.#document;
    const wanted = JSON.stringify(commitmentTags({ match: id, level, player, username }, commitment));
    const signed = event.kind === OPENING_KIND && this.#keys.includes(event.pubkey) && signatureFault(event) === null;
    if (!signed || JSON.stringify(event.tags) !== wanted) {
      throw new Refusal("The server’s commitment to its seed is not signed by this app: nothing was dealt.", {});
    }
  }

  #statement() {
    const { match, commitment, commitmentEvent, clientSeed } = this.ticket;
    const tags = statementTags(match, commitmentEvent, commitment, clientSeed);
    return { kind: OPENING_KIND, created_at: Math.floor(Date.now() / 1000), tags, content: "" };
  }
}

const playedElsewhere = () => new Refusal("This hand was played on in another window.", {});
