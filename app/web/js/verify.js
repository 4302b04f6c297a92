// The five checks of seed 000 on a score event, and whether it agrees with itself: app/verifier.py once more.
// tests/vectors/score_events.json holds both to the same verdicts. Nothing here throws, whatever an event is.

import { schnorr } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

export const KIND = 31250;
export const DELETION = 5;
export const APP_TAG = "briscola-score";
export const MAX_SCORE = 120;
/** The checks in their order; an event that is no JSON object fails none of them but `unparsable`. */
export const CHECKS = ["kind", "pubkey", "app", "signature", "content"];

const TAG_NAMES = ["d", "app", "username", "score"];
const CONTENT_FIELDS = ["v", "username", "score"];
const HEX = /^[0-9a-f]*$/;
const LONE_SURROGATE = /\p{Surrogate}/u;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isHex = (value, length) => typeof value === "string" && value.length === length && HEX.test(value);

/**
 * The verdict on an event that `JSON.parse` has read.
 * @param {unknown} event
 * @param {ReadonlySet<string>} keys the app's public keys in hex
 * @returns {{ok: boolean, failed: string|null, consistent: boolean, reasons: string[], id: string|null,
 *   username: string|null, score: number|null}}
 */
export function verify(event, keys) {
  if (!isObject(event)) return unparsable("an event is a JSON object, and this is another JSON value");
  const content = readContent(event.content);
  const failure = firstFailure(event, keys, content);
  const faults = inconsistencies(event.tags, content);
  return {
    ok: failure === null,
    failed: failure && failure[0],
    consistent: faults.length === 0,
    reasons: [...new Set(failure ? [failure[1], ...faults] : faults)],
    id: isHex(event.id, 64) ? event.id : null,
    username: failure ? null : claimedUsername(content),
    score: failure ? null : claimedScore(content),
  };
}

/** The verdict on the text of an event. A key that stands in it twice cannot be seen: the last one counts. */
export function verifyText(text, keys) {
  let event;
  try {
    event = JSON.parse(text);
  } catch {
    return unparsable("the text is not JSON");
  }
  return verify(event, keys);
}

/** Why id or signature of an event do not hold (NIP-01), null if they do. */
export function signatureFault(event) {
  const fault = shapeFault(event);
  if (fault !== null) return fault;
  const fields = [0, event.pubkey, event.created_at, event.kind, event.tags, event.content];
  // Each text by itself: a surrogate at the end of one and another at the start of the next make no pair.
  if ([event.content, ...event.tags.flat()].some((text) => LONE_SURROGATE.test(text)))
    return "a tag or the content holds a lone surrogate, which has no UTF-8 form";
  const digest = sha256(utf8ToBytes(JSON.stringify(fields)));
  if (bytesToHex(digest) !== event.id)
    return "the id is not the hash of the event: something was changed after signing";
  return schnorr.verify(hexToBytes(event.sig), digest, hexToBytes(event.pubkey))
    ? null
    : "the signature is not this public key's for this id";
}

/** The first value of a tag, undefined if there is none. */
export const tagValue = (event, name) => event.tags.find((tag) => tag[0] === name)?.[1];

function unparsable(reason) {
  const nothing = { id: null, username: null, score: null };
  return { ok: false, failed: "unparsable", consistent: false, reasons: [reason], ...nothing };
}

function firstFailure(event, keys, content) {
  if (event.kind !== KIND) return ["kind", `the kind is ${shown(event.kind)}, not ${KIND}`];
  if (typeof event.pubkey !== "string" || !keys.has(event.pubkey))
    return ["pubkey", `the public key is ${shown(event.pubkey)}, which is not the app's`];
  const isAppTag = (tag) => Array.isArray(tag) && tag[0] === "app" && tag[1] === APP_TAG;
  if (!Array.isArray(event.tags) || !event.tags.some(isAppTag))
    return ["app", `there is no app tag with the value ${APP_TAG}`];
  const fault = signatureFault(event);
  if (fault !== null) return ["signature", fault];
  if (content === null) return ["content", "the content is not a JSON object"];
  if (content.v !== 1) return ["content", `the content's v is ${shown(content.v)}, not 1`];
  return null;
}

function shapeFault(event) {
  for (const [name, length] of [
    ["id", 64],
    ["pubkey", 64],
    ["sig", 128],
  ])
    if (!isHex(event[name], length)) return `${name} is not ${length} lower-case hex digits`;
  for (const [name, largest] of [
    ["created_at", Number.MAX_SAFE_INTEGER],
    ["kind", 65535],
  ])
    if (!Number.isInteger(event[name]) || event[name] < 0 || event[name] > largest)
      return `${name} is not an integer from 0 to ${largest}`;
  if (!Array.isArray(event.tags)) return "tags is not a list";
  for (const tag of event.tags) {
    if (!Array.isArray(tag)) return "a tag is not a list";
    if (tag.length === 0) return "a tag is empty";
    if (tag.some((element) => typeof element !== "string"))
      return "a tag holds something that is not a string";
  }
  return typeof event.content === "string" ? null : "content is not a string";
}

function readContent(text) {
  if (typeof text !== "string") return null;
  try {
    const content = JSON.parse(text);
    return isObject(content) ? content : null;
  } catch {
    return null;
  }
}

const claimedUsername = (content) =>
  content && typeof content.username === "string" && content.username ? content.username : null;

const claimedScore = (content) =>
  content && Number.isInteger(content.score) && content.score >= 0 && content.score <= MAX_SCORE
    ? content.score + 0 // -0 is 0
    : null;

function inconsistencies(tags, content) {
  return [...contentFaults(content), ...tagFaults(tags, claimedUsername(content), claimedScore(content))];
}

function contentFaults(content) {
  if (content === null) return ["the content is not a JSON object"];
  const faults = [];
  if (claimedUsername(content) === null) faults.push("the content's username is not a string, or empty");
  if (claimedScore(content) === null)
    faults.push(`the content's score is not a whole number from 0 to ${MAX_SCORE}`);
  const others = Object.keys(content).filter((key) => !CONTENT_FIELDS.includes(key));
  if (others.length) faults.push(`the content has other fields: ${listed(others)}`);
  return faults;
}

function tagFaults(tags, username, score) {
  if (!Array.isArray(tags)) return ["tags is not a list"];
  const wanted = {
    d: username?.toLowerCase() ?? null,
    app: null,
    username,
    score: score === null ? null : String(score),
  };
  const isOurs = (tag) => Array.isArray(tag) && TAG_NAMES.includes(tag[0]);
  const faults = [];
  for (const name of TAG_NAMES) {
    const found = tags.filter((tag) => Array.isArray(tag) && tag[0] === name);
    if (found.length !== 1)
      faults.push(
        found.length ? `the tag ${name} occurs ${found.length} times` : `the tag ${name} is missing`,
      );
    for (const tag of found)
      if (tag.length !== 2) faults.push(`a tag ${name} has ${tag.length} elements, not 2`);
    if (wanted[name] !== null && found.some((tag) => tag[1] !== wanted[name]))
      faults.push(`the tag ${name} is not ${shown(wanted[name])}, as the content has it`);
  }
  const others = tags
    .filter((tag) => !isOurs(tag))
    .map((tag) => (Array.isArray(tag) && tag.length ? tag[0] : tag));
  if (others.length) faults.push(`there are other tags: ${listed(others)}`);
  return faults;
}

function listed(values) {
  const more = values.length > 5 ? ` and ${values.length - 5} more` : "";
  return values.slice(0, 5).map(shown).join(", ") + more;
}

/** A JSON value for a sentence: short, and plain ASCII whatever it holds. */
function shown(value) {
  if (typeof value === "string") {
    const quoted = `'${value.slice(0, 40)}'${value.length > 40 ? "..." : ""}`;
    return quoted.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
  }
  if (typeof value === "number") return Math.abs(value) < 1e15 ? String(value) : "a number out of range";
  if (typeof value === "boolean") return String(value);
  return value == null ? "null" : Array.isArray(value) ? "a list" : "an object";
}
