// Transcripts replayed in the page, told in words; and "Verify this hand", which also holds one against what this
// browser was told and chose.

import { schnorr } from "@noble/curves/secp256k1.js";
import { hexToBytes } from "@noble/hashes/utils.js";

import { replay } from "./replay.js";

const verifySignature = (signature, digest, pubkey) =>
  schnorr.verify(hexToBytes(signature), hexToBytes(digest), hexToBytes(pubkey));

/** A level as it is shown. */
export const levelName = (level) => level[0].toUpperCase() + level.slice(1);

/**
 * Replay a transcript.
 *
 * @param {string} text the event that holds it
 * @param {string[]} keys the app's public keys
 * @returns {{ok: boolean, lines: string[], verdict: object, transcript: object|null}} `lines` say what is proved, or
 *   what is wrong; there is a `transcript` if nothing is
 */
export function replayed(text, keys) {
  const verdict = replay(text, keys, verifySignature);
  if (!verdict.ok) return { ok: false, lines: verdict.reasons, verdict, transcript: null };
  const transcript = JSON.parse(JSON.parse(text).content);
  return { ok: true, lines: proved(verdict, transcript), verdict, transcript };
}

/**
 * @param {string} text the event that holds the transcript
 * @param {string[]} keys the app's public keys
 * @param {{ticket: object, plays: [string, string][]}} known the match as this browser has played it
 * @returns {{ok: boolean, lines: string[]}} what is proved, or what is wrong
 */
export function checkHand(text, keys, known) {
  const { ok, lines, transcript } = replayed(text, keys);
  const faults = ok ? [...strangers(transcript, known)] : lines;
  return faults.length > 0 ? { ok: false, lines: faults } : { ok, lines };
}

/** Where a transcript, right in itself, is not of the hand that was played here. */
function* strangers(transcript, { ticket, plays }) {
  if (transcript.match !== ticket.match) yield "it is the transcript of another match";
  if (transcript.client_seed !== ticket.clientSeed) yield "the seed is not the one that this browser chose";
  if (transcript.commitment_event.id !== ticket.commitmentEvent) yield "the commitment is not the one made before the deal";
  if (JSON.stringify(transcript.plays) !== JSON.stringify(plays)) yield "the plays are not those that were made here";
}

function proved({ level, points, choices_checked: choicesChecked, score_event: score, forfeit }, { plays }) {
  const replies = plays.filter(([side]) => side === "computer").length;
  const named = levelName(level);
  return [
    "The server had committed to its seed before the player gave theirs: neither chose the deal alone.",
    `All ${plays.length} plays are legal, and the points follow: ${points.player} to ${points.computer}.`,
    choicesChecked
      ? `The computer played exactly what ${named} plays, ${replies} times.`
      : `What is not checked here: the choices of ${named}, which searches. “briscola-scores replay” repeats the search.`,
    ...(score ? ["The score event publishes these points under the player’s name."] : []),
    ...(forfeit ? ["That the hand was given up is the server’s word."] : []),
  ];
}
