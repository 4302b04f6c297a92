// Says who has verified the board, how much of it, and where each relay stands.

import { field } from "./checks_view.js";

const SAYS = {
  connecting: "connecting…",
  reading: "reading…",
  live: "read, and listening",
  away: "trying again",
  dropped: "left out",
};
const MEANS =
  "Your browser read the relays itself and made the five checks on every score, signatures included. " +
  "Nobody’s word was taken for it, this server’s neither.";

const trust = document.querySelector("#trust");
const notice = document.querySelector("#notice");

export const players = (count) => `${count} ${count === 1 ? "player" : "players"}`;

/** @param {import("./reading.js").Reading} reading @param {number} count of players on the board */
export function showTrust(reading, count) {
  const { feeds, ready } = reading;
  const complete = feeds.filter((feed) => feed.complete).length;
  const of = feeds.length === 1 ? "1 relay" : `${feeds.length} relays`;
  field(trust, "relays").replaceChildren(...feeds.map(relayItem));
  if (!ready) {
    field(trust, "count").textContent = `your browser is reading ${of}…`;
    return;
  }
  trust.dataset.by = "browser";
  trust.dataset.complete = complete === feeds.length ? "yes" : "no";
  const cutOff = isCutOff(feeds);
  field(trust, "by").textContent =
    count === 0 && cutOff ? "Nothing verified yet" : "Verified in your browser";
  field(trust, "count").textContent =
    `${players(count)} · ${complete === feeds.length ? of : `${complete} of ${of}`}`;
  field(trust, "means").textContent = [MEANS, ...leftOut(reading)].join(" ");
  say(noticeOf(feeds, complete, count));
}

/** Whether no relay has told anything. */
export const isCutOff = (feeds) => feeds.every((feed) => feed.settled && feed.state !== "live");

function noticeOf(feeds, complete, count) {
  if (!navigator.onLine && count > 0)
    return "You are offline. This is what was verified before; it goes on by itself.";
  if (!navigator.onLine) return "You are offline. It goes on by itself once you are not.";
  if (complete === feeds.length) return "";
  if (feeds.some((feed) => !feed.settled)) return "";
  if (isCutOff(feeds) && count > 0)
    return "No relay can be reached now. These are the scores that came before, verified in your browser.";
  if (isCutOff(feeds)) return "No relay can be reached now. Scores show here as soon as one can be.";
  return "Not every relay has told all it has, so scores may be missing.";
}

/** Say it once: a text that stands already is left alone, for those who have it read out. */
function say(text) {
  if (notice.textContent !== text) notice.textContent = text;
  notice.hidden = text === "";
}

function leftOut({ forged, board: { early } }) {
  const said = [];
  if (forged) said.push(`${forged === 1 ? "1 forged event was" : `${forged} forged events were`} refused.`);
  if (early) said.push(`${early === 1 ? "1 event" : `${early} events`} from the future must wait.`);
  return said;
}

function relayItem(feed) {
  const item = document.createElement("li");
  const url = document.createElement("bdi");
  const says = document.createElement("span");
  item.dataset.state = feed.state === "live" && !feed.complete ? "partial" : feed.state;
  url.textContent = feed.url;
  says.textContent = feed.note ? `${feed.note} · ${SAYS[feed.state]}` : SAYS[feed.state];
  item.append(url, " ", says);
  return item;
}
