// What is known of a score's proof, in words: on its row, and in full beside its checks.

import { cardName } from "./card_names.js";
import { field } from "./checks_view.js";
import { deckSeed, fromHex } from "./commitment.js";
import { levelName } from "./hand_check.js";
import { deal } from "./rules.js";
import { shuffledDeck } from "./shuffle.js";
import { settle } from "./standing.js";

const SEALS = {
  proved: ({ level }) => `Proved · ${levelName(level)}`,
  told: () => "Not replayed",
  false: () => "Claimed · proof fails",
  claimed: () => "Claimed",
};
const HEADS = {
  proved: ({ exact }) =>
    exact ? "Proved, replayed in your browser." : "Proved, replayed but for the computer’s choices.",
  told: () => "Not replayed in your browser.",
  false: () => "Claimed: its proof fails.",
  claimed: () => "Claimed.",
};
const SAYS = {
  proved: ({ level }) => `A hand against ${levelName(level)}, dealt by the server.`,
  told: ({ level, looked }) =>
    `This server says that it was played against ${levelName(level)}. ` +
    (looked ? "No relay gives the transcript." : "The relays have not been asked yet."),
  false: () => "The app signed a transcript of this hand that is not true:",
  claimed: ({ looked }) =>
    looked
      ? "No relay has a transcript of a hand behind this score: whoever posted it vouches for it."
      : "The relays have not been asked yet for a transcript of a hand behind it.",
};

/** Show on a row whether it is proved. @param {Element} row of the board */
export function showSeal(row, proof) {
  const seal = row.querySelector(".seal");
  const text = SEALS[proof.state](proof);
  seal.dataset.state = proof.state;
  field(seal, "seal").textContent = text;
  seal.title = proof.state === "proved" ? HEADS.proved(proof) : "";
  field(seal, "how").textContent = seal.title.replace("Proved, ", "");
}

export class ProofView {
  #part = document.querySelector("#hand");
  #button = this.#part.querySelector("button");
  #proofs;
  #row = null;
  #shown = null;

  /** @param {import("./proofs.js").Proofs} proofs */
  constructor(proofs) {
    this.#proofs = proofs;
    this.#button?.addEventListener("click", () => void this.#fetch());
  }

  /** Show the proof of a row. */
  open(row) {
    this.#row = row;
    this.#shown = null;
    field(this.#part, "open").open = false;
    this.update();
  }

  /** Show what has become known of the row since. */
  update() {
    if (this.#row === null) return;
    const proof = this.#proofs.of(this.#row);
    const question = JSON.stringify([proof.state, proof.looked, proof.forged]);
    if (question === this.#shown) return; // what is being read stays as it is
    this.#shown = question;
    this.#part.dataset.state = proof.state;
    field(this.#part, "hand").textContent = HEADS[proof.state](proof);
    field(this.#part, "says").textContent = SAYS[proof.state](proof);
    const forged = (proof.forged ?? []).map((reason) => `A forged transcript was refused: ${reason}.`);
    this.#list(proof.lines ?? proof.reasons ?? forged);
    field(this.#part, "open").hidden = proof.state !== "proved";
    if (proof.state === "proved") field(this.#part, "tricks").replaceChildren(...tricks(proof.transcript));
    if (this.#button) this.#button.hidden = proof.state !== "told";
  }

  async #fetch() {
    const row = this.#row;
    this.#button.disabled = true;
    try {
      await this.#proofs.fetch(row);
    } catch (error) {
      if (this.#row === row) this.#list([error.message]);
    }
    this.#button.disabled = false;
    this.update();
  }

  #list(lines) {
    const items = lines.map((line) => {
      const item = document.createElement("li");
      item.textContent = line;
      return item;
    });
    field(this.#part, "lines").replaceChildren(...items);
  }
}

/** Rows of a table: what both sides played, who led, and who took it. */
function tricks({ match, server_seed: server, client_seed: client, plays }) {
  const { trump } = deal(shuffledDeck(deckSeed(match, fromHex(server), fromHex(client))));
  return Array.from({ length: plays.length / 2 }, (_, at) => {
    const pair = plays.slice(2 * at, 2 * at + 2);
    const { taker, points } = settle(pair, trump);
    const row = document.createElement("tr");
    const cards = { [pair[0][0]]: `led ${cardName(pair[0][1])}`, [pair[1][0]]: cardName(pair[1][1]) };
    for (const text of [at + 1, cards.player, cards.computer, `${taker}, ${points}`]) {
      const cell = document.createElement("td");
      cell.textContent = text;
      row.append(cell);
    }
    return row;
  });
}
