// One hand at the table: takes the player's cards one at a time and shows what follows at the seed's pace.

import { LEAD, PAIR, REPLY, pause } from "./pacing.js";
import { suit } from "./rules.js";
import { settle, standing } from "./standing.js";
import { played, taken } from "./table_view.js";

const NOTED = 10; // points from which a trick of the player's is worth a note

/**
 * A match has `faceUp`, `plays` and `cards` (the player's), and `play(card)`, which resolves once the computer has
 * played until the player is to move again.
 */
export class Table {
  #view;
  #tell;
  #on;
  #match = null;
  #busy = false;

  /**
   * @param {import("./table_view.js").TableView} view
   * @param {{say: (text: string) => void, note: (text: string) => void}} tell for those who listen; for all
   * @param {{end: (match: object) => void, fault: (error: Error) => void}} on what is called when a hand is over;
   *   when a card could not be played, and is back in the hand
   */
  constructor(view, tell, on) {
    this.#view = view;
    this.#tell = tell;
    this.#on = on;
  }

  /** Whether there is no match on it yet. */
  get isFree() {
    return this.#match === null;
  }

  /** Sit down to a match, however far it is; what still happens at the old one is not shown. */
  sit(match) {
    this.#match = match;
    this.#view.lay(match);
    this.#tell.note("");
    this.#become(false);
  }

  /** The player's choice; ignored while the computer thinks. */
  async choose(card) {
    const match = this.#match;
    if (this.#busy || match === null || !match.cards.includes(card)) return;
    if (standing(match.faceUp, match.plays).toMove !== "player") return;
    this.#become(true);
    const before = match.plays.length;
    const leads = before % 2 === 0;
    this.#view.put("player", card);
    this.#tell.note("");
    this.#tell.say(played("player", card, leads));
    if (!leads) this.#view.point(this.#taker(match, [...match.plays, ["player", card]]));
    try {
      await Promise.all([match.play(card), pause(leads ? REPLY : PAIR)]);
    } catch (error) {
      if (this.#match !== match) return;
      this.#view.takeBack(match);
      this.#become(false);
      this.#on.fault(error);
      return;
    }
    if (this.#match === match) await this.#show(match, before + 1);
    if (this.#match !== match) return;
    this.#become(false);
    if (standing(match.faceUp, match.plays).toMove === null) this.#on.end(match);
  }

  /** Everything that has happened since the player's card, which the first pause has already followed. */
  async #show(match, from) {
    if (from % 2 === 0) this.#settle(match, from);
    for (let count = from + 1; count <= match.plays.length; count++) {
      const [side, card] = match.plays[count - 1];
      const leads = count % 2 === 1;
      if (leads) await pause(LEAD);
      if (this.#match !== match) return;
      this.#view.put(side, card);
      this.#tell.say(played(side, card, leads));
      if (leads) continue;
      this.#view.point(this.#taker(match, match.plays.slice(0, count)));
      await pause(PAIR);
      if (this.#match !== match) return;
      this.#settle(match, count);
    }
  }

  /** Add the points of the trick that ended with this play, and draw. */
  #settle(match, count) {
    const plays = match.plays.slice(0, count);
    const now = standing(match.faceUp, plays);
    const { taker, points } = settle(plays.slice(-2), now.trump);
    this.#view.collect(taker);
    this.#view.count(now);
    this.#view.draw(match.cards, now.computerCards);
    this.#tell.say(taken(taker, points));
    if (taker === "player" && points >= NOTED) this.#tell.note(`You take ${points} points.`);
  }

  /** Who takes the trick that these plays end with. */
  #taker(match, plays) {
    return settle(plays.slice(-2), suit(match.faceUp)).taker;
  }

  #become(busy) {
    this.#busy = busy;
    this.#view.wait(busy);
  }
}
