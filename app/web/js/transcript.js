// The form of a transcript, as app/matches/transcript.py describes it: what is read, and what is refused.

import { LEVELS } from "./opponent.js";
import { DECK } from "./shuffle.js";

export const KIND = 30078;
const MAX_TEXT = 64 * 1024;
const MAX_CONTENT = 16 * 1024;
const PLIES = 40;

/** Canonical JSON (RFC 8785): what JSON.stringify writes, keys in order. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const fields = Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${fields.join(",")}}`;
}

const isText = (value) => typeof value === "string" && !/\p{Surrogate}/u.test(value); // a lone one has no UTF-8
const isHex = (digits) => (value) => typeof value === "string" && new RegExp(`^[0-9a-f]{${digits}}$`).test(value);
const isCount = (most) => (value) => Number.isInteger(value) && value >= 0 && value <= most;
const isList = (value, isItem, most) => Array.isArray(value) && value.length <= most && value.every(isItem);
const isTag = (value) => isList(value, isText, Infinity) && value.length > 0;

/** Whether `value` has the fields of `form` and no others, each as its test wants it. */
const hasForm = (form) => (value) =>
  value !== null &&
  typeof value === "object" &&
  !Array.isArray(value) &&
  Object.keys(value).length === Object.keys(form).length &&
  Object.entries(form).every(([name, test]) => Object.hasOwn(value, name) && test(value[name]));

const EVENT = {
  id: isHex(64),
  pubkey: isHex(64),
  created_at: isCount(Number.MAX_SAFE_INTEGER),
  kind: isCount(65535),
  tags: (value) => isList(value, isTag, Infinity),
  content: isText,
  sig: isHex(128),
};
const isEvent = hasForm(EVENT);

const isPlay = (value) =>
  isList(value, isText, 2) && ["player", "computer"].includes(value[0]) && DECK.includes(value[1]);

const FORM = {
  v: (value) => value === 1,
  match: isHex(32),
  variant: (value) => value === "two-player",
  level: (value) => [...LEVELS, "master"].includes(value),
  player: isHex(64),
  username: (value) => isText(value) && value !== "",
  commitment: isText,
  commitment_event: isEvent,
  server_seed: isHex(64),
  salt: isHex(64),
  client_seed: isHex(64),
  statement: isEvent,
  plays: (value) => isList(value, isPlay, PLIES),
  points: hasForm({ player: Number.isSafeInteger, computer: Number.isSafeInteger }),
  forfeit: (value) => [null, "resigned", "expired"].includes(value),
  score_event: (value) => value === null || isEvent(value),
};

/**
 * The event in JSON text and the transcript in its content; nothing of either is believed yet.
 *
 * Throws a SyntaxError that says what is malformed.
 */
export function readTranscript(text) {
  if (text.length > MAX_TEXT) throw new SyntaxError(`it is ${text.length} long: at most ${MAX_TEXT} are read`);
  const event = fieldsOf(text, "it");
  check(EVENT, event, "of the event");
  if (event.kind !== KIND) throw new SyntaxError(`the event is of kind ${event.kind}: a transcript is of kind ${KIND}`);
  if (event.content.length > MAX_CONTENT) throw new SyntaxError(`the content has over ${MAX_CONTENT} characters`);
  const transcript = fieldsOf(event.content, "the content");
  check(FORM, transcript, "of the transcript");
  const more = Object.keys(transcript).find((name) => !Object.hasOwn(FORM, name));
  if (more !== undefined) throw new SyntaxError(`the transcript has a field that is not known: ${more.slice(0, 40)}`);
  if (canonical(transcript) !== event.content) {
    throw new SyntaxError("the content is not in the canonical form of RFC 8785, or holds more than it may");
  }
  return { event, transcript };
}

function fieldsOf(text, name) {
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new SyntaxError(`${name} is not JSON`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new SyntaxError(`${name} is not a JSON object`);
  }
  return value;
}

/** Throws for the first field that is missing or not as its test wants it. */
function check(form, value, of) {
  for (const [name, test] of Object.entries(form)) {
    if (!Object.hasOwn(value, name)) throw new SyntaxError(`the field ${name} ${of} is missing`);
    if (!test(value[name])) throw new SyntaxError(`the field ${name} ${of} is malformed`);
  }
}
