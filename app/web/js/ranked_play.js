// Hands for the leaderboard: signing in, dealing, coming back after a reload, giving up, what comes after.

import { MatchApi, Patience } from "./match_api.js";
import { PublicationView } from "./publication_view.js";
import { recall, remember } from "./record.js";
import { ServerMatch } from "./server_match.js";
import { SignIn, lastSigner } from "./sign_in.js";

const TICKET = "briscola-match";
const find = (id) => document.querySelector(`#${id}`);
const { keys } = JSON.parse(document.querySelector("main").dataset.protocol);

export class RankedPlay {
  /** The match that is on the table; null for practice. */
  match = null;
  #isAwaited = false; // whether a hand is still to be come back to
  #back = null; // the hand that is back while another is on the table
  #player = null; // who signed in since the page was loaded
  #server;
  #page;
  #publication;
  #signIn = new SignIn((player) => this.#open(player));
  #leave = find("leave");
  #then = null; // what comes once the hand is given up

  /** @param page `isFree()`, whether no hand is on the table; `begin(match)`, `practice()`, `tell`, `outcome` */
  constructor({ service, root }, page) {
    const api = new MatchApi(root, service);
    const patience = new Patience((trouble) => this.#trouble(trouble));
    this.#server = { api, patience, keys };
    this.#page = page;
    this.#publication = new PublicationView(api, keys, root);
    find("again").addEventListener("click", () => patience.again());
    find("rank").addEventListener("click", () => this.#signIn.open(find("level").value));
    find("return").addEventListener("click", () => this.#sit(this.#back));
    find("resign").addEventListener("click", () => this.#askToLeave(() => this.#ended()));
    find("practice").addEventListener("click", () => this.#askToLeave(() => this.#toPractice()));
    find("stay").addEventListener("click", () => this.#leave.close());
    find("give-up").addEventListener("click", () => void this.#giveUp());
    // Whoever stays, stays at the level of the hand.
    this.#leave.addEventListener("close", () => (find("level").value = this.match.level));
  }

  /** Another hand of the same player, at the level that is chosen now. */
  again() {
    const level = find("level").value;
    this.#askToLeave(() => void this.#another(level));
  }

  /** Come back to the hand that was on the table when the page was left; whether there is one to come back to. */
  resume() {
    const ticket = recall(TICKET);
    if (ticket !== null) void this.#comeBack(ticket);
    return ticket !== null;
  }

  async #comeBack(ticket) {
    this.#isAwaited = true;
    this.#showButtons();
    this.#page.tell.inform("Coming back to your hand…");
    try {
      const signer = ticket.token ? null : await lastSigner();
      const match = await ServerMatch.resume(this.#server, ticket, signer);
      if (this.#page.isFree()) this.#sit(match);
      else this.#offer(match);
    } catch (error) {
      this.#giveWay(ticket, `The hand you had begun cannot be gone on with. ${error.message}`);
    }
  }

  /** Whoever has begun a hand for practice meanwhile is not taken away from it. */
  #offer(match) {
    this.#back = match;
    this.#showButtons();
    this.#page.tell.inform("Your hand for the leaderboard is here again: go back to it when you like.");
  }

  /** A card was not played: the table shows what the server has. */
  recover(error) {
    this.#sit(this.match);
    this.#page.tell.inform(`${error.message} The hand is shown as the server has it.`);
  }

  /** The hand on the table has just ended. */
  end() {
    this.#showButtons();
    void this.#publication.show(this.match);
  }

  async #open(player) {
    const match = await ServerMatch.open(this.#server, player, (ticket) => remember(TICKET, ticket));
    this.#player = player;
    this.#sit(match);
    if (match.plays.length > 0) this.#page.tell.inform("You had not finished this hand: it goes on here.");
  }

  async #another(level) {
    const { username } = this.match;
    try {
      const signer = this.#player?.signer ?? (await lastSigner());
      await this.#open({ username, level, signer });
    } catch (error) {
      this.#page.tell.inform(error.message);
      this.#showButtons();
    }
  }

  #sit(match) {
    this.#isAwaited = false;
    this.#back = null;
    this.#publication.hide();
    if (match.state === "lapsed") {
      this.#giveWay(match.ticket, "The hand you had asked for was not dealt in time.");
      return;
    }
    this.match = match;
    find("level").value = match.level;
    this.#page.begin(match);
    if (match.state !== "playing") this.#ended();
    this.#showButtons();
  }

  /** Show a hand that is over, and was not played to its end just now. */
  #ended() {
    const { outcome, tell } = this.#page;
    const { forfeit, points } = this.match.result;
    tell.say(forfeit === null ? outcome.showEnd(points) : outcome.showForfeit(forfeit));
    this.end();
  }

  #toPractice() {
    forget(this.match.ticket);
    this.match = null;
    this.#publication.hide();
    this.#showButtons();
    this.#page.practice();
  }

  /** There is nothing to come back to. */
  #giveWay(ticket, reason) {
    forget(ticket);
    this.#isAwaited = false;
    this.#showButtons();
    if (this.#page.isFree()) this.#page.practice();
    this.#page.tell.inform(reason);
  }

  #askToLeave(then) {
    if (this.match.state !== "playing") then();
    else {
      this.#then = then;
      this.#leave.showModal();
    }
  }

  async #giveUp() {
    this.#leave.close();
    try {
      await this.match.resign();
      this.#then();
    } catch (error) {
      this.#page.tell.inform(error.message);
    }
  }

  #showButtons() {
    const { match } = this;
    find("mode").replaceChildren(...modeOf(match));
    find("resign").hidden = match?.state !== "playing";
    find("practice").hidden = match === null;
    find("rank").hidden = match !== null || this.#isAwaited;
    find("return").hidden = this.#back === null;
    find("level").querySelector("[value=master]").disabled = match === null;
  }

  #trouble(text) {
    const said = text && `${text} Nothing is lost: it is tried again by itself.`;
    find("trouble").hidden = text === "";
    find("trouble").firstElementChild.textContent = said;
    this.#signIn.trouble(said);
  }
}

/** Another window may have begun another hand since: that one is kept. */
function forget(ticket) {
  if (recall(TICKET)?.match === ticket.match) remember(TICKET, null);
}

function modeOf(match) {
  const [strong, span] = [document.createElement("strong"), document.createElement("span")];
  strong.textContent = match === null ? "Practice" : "For the leaderboard";
  if (match === null) span.textContent = "nothing leaves your browser";
  else {
    const name = document.createElement("bdi");
    name.textContent = match.username;
    span.append("as ", name);
  }
  return [strong, " ", span];
}
