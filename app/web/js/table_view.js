// The table as it is drawn: two hands, the stock with the briscola under it, the trick.

import { cardBack, cardFace } from "./card_face.js";
import { cardLabel, cardName, countPoints, suitName } from "./card_names.js";
import { fly, leave } from "./pacing.js";
import { standing } from "./standing.js";

const find = (id) => document.querySelector(`#${id}`);

export class TableView {
  #hand = find("hand");
  #theirs = find("theirs");
  #stock = find("stock");
  #turned = find("turned");
  #trick = find("trick");
  #faceUp = null;
  #held = null; // where the focus was in the hand when its card was played

  /** Draw a match as it stands, at once; a new one is dealt from the stock. */
  lay(match) {
    const from = match.plays.length === 0 ? this.#stock.getBoundingClientRect() : null;
    const now = standing(match.faceUp, match.plays);
    this.#faceUp = match.faceUp;
    for (const slot of this.#trick.children) {
      slot.replaceChildren();
      slot.classList.remove("takes");
    }
    for (const [side, card] of now.table) this.#slot(side).replaceChildren(picture(card));
    this.#turned.replaceChildren(cardFace(match.faceUp));
    this.#hand.replaceChildren(...match.cards.map((card) => handCard(card)));
    for (const card of this.#hand.children) fly(card, from, { opacity: 0 });
    this.#number(match.cards);
    this.#theirs.replaceChildren();
    this.#backs(now.computerCards, from);
    this.count(now);
  }

  /** Say points and stock. */
  count({ points, stock, trump }) {
    find("your-points").textContent = points.player;
    find("their-points").textContent = points.computer;
    find("stock-count").textContent = stock;
    this.#stock.dataset.left = stock > 1 ? "many" : stock;
    const turned = stock > 0 ? `${cardName(this.#faceUp)} is turned up, and drawn last` : "the stock is empty";
    find("briscola").textContent = `Briscola: ${suitName(trump)} · ${turned}`;
    this.#stock.setAttribute("aria-label", `Stock: ${stock} ${stock === 1 ? "card" : "cards"}`);
  }

  /** A card comes from a hand onto the table. */
  put(side, card) {
    const slot = this.#slot(side);
    let from;
    if (side === "player") {
      const element = this.#card(card);
      from = element.getBoundingClientRect();
      this.#keepFocus(element);
      element.remove();
    } else {
      const back = this.#theirs.lastElementChild;
      from = back.getBoundingClientRect();
      back.remove();
    }
    const shown = picture(card);
    slot.replaceChildren(shown);
    fly(shown, from);
  }

  /** Take a card back into the hand that it was played from. */
  takeBack(match) {
    this.lay(match);
    this.#giveFocus();
  }

  /** Show whose card takes the trick. */
  point(taker) {
    this.#slot(taker).classList.add("takes");
  }

  /** The trick goes to who has taken it. */
  collect(taker) {
    const target = find(taker === "player" ? "your-points" : "their-points");
    for (const slot of this.#trick.children) {
      slot.classList.remove("takes");
      void leave(slot.firstElementChild, target);
    }
  }

  /** Both hands after a trick: what is new in them comes from the stock. */
  draw(cards, computerCards) {
    const from = this.#stock.getBoundingClientRect();
    for (const card of cards) {
      if (this.#card(card)) continue;
      const drawn = handCard(card);
      this.#hand.append(drawn);
      fly(drawn, from, { opacity: 0 });
    }
    this.#number(cards);
    this.#backs(computerCards, from);
    this.#giveFocus();
  }

  /** Whether the player may play now. */
  wait(waiting) {
    this.#hand.dataset.waiting = waiting ? "yes" : "no";
  }

  #slot(side) {
    return this.#trick.querySelector(`[data-side="${side}"]`);
  }

  #card(card) {
    return this.#hand.querySelector(`[data-card="${card}"]`);
  }

  /** Name the cards as the keyboard calls them. */
  #number(cards) {
    cards.forEach((card, place) => this.#card(card).setAttribute("aria-keyshortcuts", String(place + 1)));
    this.#hand.setAttribute("aria-label", cards.length ? "Your cards" : "You have no cards");
  }

  #backs(count, from) {
    while (this.#theirs.children.length > count) this.#theirs.lastElementChild.remove();
    while (this.#theirs.children.length < count) {
      const back = document.createElement("span");
      back.append(cardBack());
      this.#theirs.append(back);
      fly(back, from, { opacity: 0 });
    }
    this.#theirs.setAttribute("aria-label", `The computer’s cards: ${count}`);
  }

  #keepFocus(element) {
    this.#held = element === document.activeElement ? [...this.#hand.children].indexOf(element) : null;
  }

  /** The card after the one that was played has the focus, so that the keyboard goes on from there. */
  #giveFocus() {
    if (this.#held === null || document.activeElement !== document.body) return;
    const { children } = this.#hand;
    const next = children[Math.min(this.#held, children.length - 1)] ?? find("new");
    next.focus({ preventScroll: true });
    this.#held = null;
  }
}

function handCard(card) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "card";
  button.dataset.card = card;
  button.setAttribute("aria-label", cardLabel(card));
  button.append(cardFace(card));
  return button;
}

function picture(card) {
  const shown = document.createElement("span");
  shown.dataset.card = card;
  shown.setAttribute("role", "img");
  shown.setAttribute("aria-label", cardName(card));
  shown.append(cardFace(card));
  return shown;
}

/** What is said of a play. */
export const played = (side, card, leads) =>
  `${side === "player" ? "You" : "The computer"} ${leads ? "lead" : "play"}${side === "player" ? "" : "s"} ${cardName(card)}.`;

/** What is said of a trick. */
export const taken = (taker, points) =>
  `${taker === "player" ? "You take" : "The computer takes"} the trick, ${countPoints(points)}.`;
