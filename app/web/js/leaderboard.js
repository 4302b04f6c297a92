// The page /: reads the relays, verifies, ranks and shows the board live. Until it has a board to stand by, the
// rows that the server verified stay.

import { BoardView } from "./board_view.js";
import { field, showVerdict } from "./checks_view.js";
import { Reading } from "./reading.js";
import { isCutOff, players, showTrust } from "./trust_view.js";
import { verify } from "./verify.js";
import { showTime } from "./when.js";

const PERIODS = { day: 86_400, week: 7 * 86_400, all: Infinity };
const STEP = 100; // rows that are shown at once
const TICK_MS = 30_000;
const NEWS_MS = 10_000;

const protocol = JSON.parse(document.querySelector("main").dataset.protocol);
const tools = document.querySelector(".tools");
const empty = document.querySelector("#empty");
const further = document.querySelector("#further");
const news = document.querySelector("#news");
const dialog = document.querySelector("#dialog");

const served = [...document.querySelectorAll("#board tbody tr")].map((row) => JSON.parse(row.dataset.event));
const view = new BoardView(openChecks);
const reading = new Reading(protocol, served, refresh);
let limit = STEP;
let drawing = false;
let shown = null; // what was drawn last: score by player, and for which search
let told = 0;

/** Draw soon: many changes together are one drawing. */
function refresh() {
  if (drawing) return;
  drawing = true;
  // A page in the background gets no frames, and must not lag behind when somebody returns to it.
  if (document.hidden) setTimeout(draw);
  else requestAnimationFrame(draw);
}

function draw() {
  drawing = false;
  reading.board.advance(Date.now() / 1000);
  const all = reading.ready ? reading.board.rows() : [];
  showTrust(reading, all.length);
  if (!reading.ready) return;
  const period = tools.elements.period.value;
  const search = tools.elements.q.value.trim();
  const since = Date.now() / 1000 - PERIODS[period];
  const wanted = search.normalize("NFKC").toLowerCase();
  const ranked = since === -Infinity ? all : reading.board.rows(since);
  const found = wanted ? ranked.filter((row) => row.d.includes(wanted)) : ranked;
  const question = `${period} ${wanted} ${limit}`;
  view.show(found.slice(0, limit), shown?.question === question);
  further.hidden = found.length <= limit;
  empty.hidden = found.length > 0;
  empty.dataset.state = reading.settled ? "none" : "reading";
  field(empty, "empty").textContent = emptyText(search, ranked.length, all.length);
  tell(question, ranked);
}

function emptyText(search, ranked, all) {
  if (search && ranked) return `Nobody here is called "${search}".`;
  if (!reading.settled) return "Reading the relays…";
  if (all > 0) return "No score in this time. Look at all time.";
  if (isCutOff(reading.feeds)) return "No score has come: no relay can be reached.";
  if (!reading.complete) return "No score has come so far.";
  return "No score yet. The first hand is still to be played.";
}

/** Say what changed to those who do not see it: the best of it, and not often. */
function tell(question, ranked) {
  const scores = new Map(ranked.map((row) => [row.d, row.event.id]));
  if (shown?.question === question && Date.now() - told >= NEWS_MS) {
    const fresh = ranked.filter((row) => shown.scores.get(row.d) !== row.event.id);
    if (fresh.length > 0) {
      const [{ username, score, rank }] = fresh;
      const others = fresh.length > 1 ? `, and ${players(fresh.length - 1)} more` : "";
      news.textContent = `New: ${username} with ${score} points, rank ${rank}${others}.`;
      told = Date.now();
    }
  }
  shown = { question, scores };
}

function openChecks({ username, score, createdAt, event }) {
  field(dialog, "username").textContent = username;
  field(dialog, "score").textContent = score;
  showTime(dialog.querySelector("time"), createdAt);
  showVerdict(dialog.querySelector(".verdict"), verify(event, new Set(protocol.keys)));
  field(dialog, "event").textContent = JSON.stringify(event, null, 2);
  dialog.querySelector("details").open = false;
  dialog.showModal();
}

function choosePeriod(event) {
  event.preventDefault();
  tools.elements.period.value = event.currentTarget.dataset.period;
  for (const link of tools.querySelectorAll("[data-period]")) link.toggleAttribute("aria-current", false);
  event.currentTarget.setAttribute("aria-current", "true");
  ask();
}

/** The address says what is shown, so that it can be kept and sent. */
function ask() {
  limit = STEP;
  const query = new URLSearchParams({ period: tools.elements.period.value });
  if (tools.elements.q.value.trim()) query.set("q", tools.elements.q.value.trim());
  history.replaceState(null, "", `?${query}`);
  refresh();
}

for (const link of tools.querySelectorAll("[data-period]")) link.addEventListener("click", choosePeriod);
tools.elements.q.addEventListener("input", ask);
tools.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
further.querySelector("a").addEventListener("click", (event) => {
  event.preventDefault();
  limit += STEP;
  refresh();
});
dialog.querySelector(".close").addEventListener("click", () => dialog.close());
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
window.addEventListener("online", () => reading.wake());
for (const change of ["online", "offline"]) window.addEventListener(change, refresh);
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) reading.wake();
});
setInterval(() => {
  view.tick();
  refresh();
}, TICK_MS);

document.documentElement.classList.add("live");
for (const time of document.querySelectorAll("#board time")) showTime(time, Date.parse(time.dateTime) / 1000);
if (served.length === 0) {
  field(document, "by").textContent = "Nothing verified yet";
  document.querySelector("#notice").hidden = true;
  empty.dataset.state = "reading";
  field(empty, "empty").textContent = "Reading the relays…";
}
reading.start();
