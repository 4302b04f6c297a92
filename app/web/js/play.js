// The page /play: a hand for practice is on the table at once; for the leaderboard a player signs in.

import { field } from "./checks_view.js";
import { countPoints } from "./card_names.js";
import { listen } from "./hand_input.js";
import { cardBack } from "./card_face.js";
import { addHand, record } from "./record.js";
import { SoloMatch } from "./solo_match.js";
import { standing, winner } from "./standing.js";
import { Table } from "./table.js";
import { TableView } from "./table_view.js";

const find = (id) => document.querySelector(`#${id}`);
const level = find("level");
const result = find("result");

const tell = {
  say(text) {
    const line = document.createElement("span");
    line.textContent = `${text} `;
    find("said").append(line);
  },
  note(text) {
    find("note").textContent = text;
    if (text) this.say(text);
  },
};
const table = new Table(new TableView(), tell, end, () => {});

function practice() {
  result.hidden = true;
  find("said").replaceChildren();
  const match = new SoloMatch(level.value);
  table.sit(match);
  tell.say(`A new hand. ${find("briscola").textContent}. You lead.`);
}

function end(match) {
  const { points } = standing(match.faceUp, match.plays);
  const won = winner(points);
  const kept = addHand(points.player, won === "player");
  showRecord(kept);
  field(result, "title").textContent = titleOf(points, won);
  field(result, "line").textContent = lineOf(won, kept);
  result.hidden = false;
  tell.say(`${field(result, "title").textContent} ${field(result, "line").textContent}`);
  result.scrollIntoView({ block: "nearest" });
}

function titleOf({ player, computer }, won) {
  if (won === null) return "Sixty all";
  return won === "player" ? `You win, ${player} to ${computer}` : `The computer wins, ${computer} to ${player}`;
}

function lineOf(won, { best, hands, won: wins }) {
  const so = `Best ${countPoints(best)}, ${wins} of ${hands} ${hands === 1 ? "hand" : "hands"} won.`;
  if (won === "computer") return `The four aces and four threes hold 84 of the 120 points. ${so}`;
  return won === null ? `Nobody wins with sixty each. ${so}` : so;
}

function showRecord({ best, hands }) {
  find("best").textContent = hands > 0 ? best : "–";
}

find("pile").append(cardBack());
listen(find("hand"), (card) => void table.choose(card));
level.addEventListener("change", practice);
find("new").addEventListener("click", practice);
showRecord(record());
practice();
