// The page /: reads the relays, verifies, ranks and shows the board live. Until it has a board to stand by, the
// rows that the server verified stay.

import { BoardView } from "./board_view.js";
import { field, showVerdict } from "./checks_view.js";
import { ProofStream } from "./proof_stream.js";
import { ProofView } from "./proof_view.js";
import { Proofs } from "./proofs.js";
import { Reading } from "./reading.js";
import { isCutOff, players, showTrust } from "./trust_view.js";
import { verify } from "./verify.js";
import { showTime } from "./when.js";

const PERIODS = { day: 86_400, week: 7 * 86_400, all: Infinity };
const STEP = 100; // rows that are shown at once
const DEPTH = 20; // rows that are looked through for each one that is to be shown
const TICK_MS = 30_000;
const NEWS_MS = 10_000;

const protocol = JSON.parse(document.querySelector("main").dataset.protocol);
const tools = document.querySelector(".tools");
const empty = document.querySelector("#empty");
const further = document.querySelector("#further");
const news = document.querySelector("#news");
const dialog = document.querySelector("#dialog");

const rows = [...document.querySelectorAll("#board tbody tr")].map(({ dataset: { event, proof } }) => ({
  event: JSON.parse(event),
  proof: proof && JSON.parse(proof),
}));
const served = rows.map(({ event }) => event);
const hints = new Map(rows.filter(({ proof }) => proof).map(({ event, proof }) => [event.id, proof]));
const view = new BoardView(openChecks);
const reading = new Reading(protocol, served, refresh);
const { stream: streamAddress, transcripts } = document.querySelector("#board").dataset;
const proofs = new Proofs(reading.feeds, protocol.keys, { told: hints, transcripts }, refresh);
const stream = new ProofStream(streamAddress, (entries, fresh) => proofs.tell(entries, fresh));
const proofView = new ProofView(proofs);
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
  const { checked: proved } = tools.elements.proved;
  const level = tools.elements.level.value;
  stream.follow(level);
  const timely = since === -Infinity ? all : reading.board.rows(since);
  const ranked = proved ? reading.board.rows(since, (row) => proofs.isProved(row, level)) : timely;
  const found = wanted ? ranked.filter((row) => row.d.includes(wanted)) : ranked;
  const looked = proofs.look(proved ? candidates(timely, level) : found.slice(0, limit));
  const question = `${period} ${wanted} ${limit} ${proved} ${level}`;
  // As long as proofs come in, rows that appear are no news.
  const settled = looked || !proved;
  const seen = found.slice(0, limit).map((row) => ({ ...row, proof: proofs.of(row) }));
  view.show(seen, settled && shown?.question === question);
  proofView.update();
  further.hidden = found.length <= limit && !(proved && timely.length > DEPTH * limit);
  empty.hidden = found.length > 0;
  empty.dataset.state = reading.settled && settled ? "none" : "reading";
  field(empty, "empty").textContent = emptyText(search, proved, settled, ranked.length, all.length);
  empty.querySelector("a").hidden = search !== "" || empty.dataset.state === "reading";
  tell(question, ranked, settled);
}

/** The rows to be looked through for proofs, from the top down to where enough are proved. */
function candidates(timely, level) {
  let found = 0;
  const last = timely.findIndex((row) => proofs.isProved(row, level) && ++found > limit);
  return timely.slice(0, last < 0 ? DEPTH * limit : last);
}

function emptyText(search, proved, settled, ranked, all) {
  if (search && ranked && settled) return `Nobody here is called "${search}".`;
  if (!reading.settled) return "Reading the relays…";
  if (!settled) return "Looking for proofs on the relays…";
  if (proved && all > 0) return "No proved score here. Look at all scores, or play one.";
  if (all > 0) return "No score in this time. Look at all time.";
  if (isCutOff(reading.feeds)) return "No score has come: no relay can be reached.";
  if (!reading.complete) return "No score has come so far.";
  return "No score yet. The first hand is still to be played.";
}

/** Say what changed to those who do not see it: the best of it, and not often. */
function tell(question, ranked, settled) {
  const scores = new Map(ranked.map((row) => [row.d, row.event.id]));
  if (settled && shown?.question === question && Date.now() - told >= NEWS_MS) {
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

function openChecks(row) {
  const { username, score, createdAt, event } = row;
  field(dialog, "username").textContent = username;
  field(dialog, "score").textContent = score;
  showTime(dialog.querySelector("time"), createdAt);
  showVerdict(dialog.querySelector(".verdict"), verify(event, new Set(protocol.keys)));
  field(dialog, "event").textContent = JSON.stringify(event, null, 2);
  proofView.open(row);
  for (const details of dialog.querySelectorAll("details")) details.open = false;
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
  if (tools.elements.proved.checked) query.set("proved", "1");
  if (tools.elements.level.value) query.set("level", tools.elements.level.value);
  history.replaceState(null, "", `?${query}`);
  refresh();
}

for (const link of tools.querySelectorAll("[data-period]")) link.addEventListener("click", choosePeriod);
tools.elements.q.addEventListener("input", ask);
tools.elements.proved.addEventListener("change", ({ target }) => {
  if (!target.checked) tools.elements.level.value = "";
  ask();
});
tools.elements.level.addEventListener("change", ({ target }) => {
  if (target.value) tools.elements.proved.checked = true;
  ask();
});
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
  empty.querySelector("a").hidden = true;
  field(empty, "empty").textContent = "Reading the relays…";
}
reading.start();
