// The page /play: a hand for practice is on the table at once; one for the leaderboard is asked for.

import { cardBack } from "./card_face.js";
import { listen } from "./hand_input.js";
import { OutcomeView } from "./outcome_view.js";
import { RankedPlay } from "./ranked_play.js";
import { addHand, record } from "./record.js";
import { SoloMatch } from "./solo_match.js";
import { standing, winner } from "./standing.js";
import { Table } from "./table.js";
import { TableView } from "./table_view.js";

const find = (id) => document.querySelector(`#${id}`);
const level = find("level");
const outcome = new OutcomeView();

const tell = {
  say(text) {
    const line = document.createElement("span");
    line.textContent = `${text} `;
    find("said").append(line);
  },
  note(text) {
    find("note").textContent = text;
  },
  inform(text) {
    tell.note(text);
    tell.say(text);
  },
};

const table = new Table(new TableView(), tell, {
  end(match) {
    const { points } = standing(match.faceUp, match.plays);
    const kept = addHand(points.player, winner(points) === "player");
    showRecord(kept);
    tell.say(outcome.showEnd(points, kept));
    if (match === ranked?.match) ranked.end();
  },
  fault(error) {
    ranked.recover(error);
  },
});

/** Put a match on the table, whoever keeps it. */
function begin(match) {
  outcome.hide();
  find("said").replaceChildren();
  table.sit(match);
  if (match.cards.length === 0) return;
  tell.say(`${find("briscola").textContent}. ${match.plays.length === 0 ? "You lead." : "Your turn."}`);
}

function practice() {
  if (level.selectedOptions[0].disabled) level.value = "normal";
  begin(new SoloMatch(level.value));
}

function showRecord({ best, hands }) {
  find("best").textContent = hands > 0 ? best : "–";
}

const { service, root, worker } = find("play").dataset;
const page = { isFree: () => table.isFree, begin, practice, tell, outcome };
const ranked = service ? new RankedPlay({ service, root }, page) : null;

find("pile").append(cardBack());
listen(find("hand"), (card) => void table.choose(card));
level.addEventListener("change", () => (ranked?.match ? ranked.again() : practice()));
find("new").addEventListener("click", () => (ranked?.match ? ranked.again() : practice()));
showRecord(record());
if (!ranked?.resume()) practice();
// A browser that keeps no page still plays.
navigator.serviceWorker?.register(worker, { scope: location.pathname }).catch(() => {});
