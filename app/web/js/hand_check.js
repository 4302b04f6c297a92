// "Verify this hand": the transcript replayed in the page, and held against what this browser was told and chose.

import { schnorr } from "@noble/curves/secp256k1.js";
import { hexToBytes } from "@noble/hashes/utils.js";

import { replay } from "./replay.js";

const verifySignature = (signature, digest, pubkey) =>
  schnorr.verify(hexToBytes(signature), hexToBytes(digest), hexToBytes(pubkey));

/**
 * @param {string} text the event that holds the transcript
 * @param {string[]} keys the app's public keys
 * @param {{ticket: object, plays: [string, string][]}} known the match as this browser has played it
 * @returns {{ok: boolean, lines: string[]}} what is proved, or what is wrong
 */
export function checkHand(text, keys, known) {
  const verdict = replay(text, keys, verifySignature);
  if (!verdict.ok) return { ok: false, lines: verdict.reasons };
  const transcript = JSON.parse(JSON.parse(text).content);
  const faults = [...strangers(transcript, known)];
  return faults.length > 0 ? { ok: false, lines: faults } : { ok: true, lines: proved(verdict, transcript) };
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
  const named = level[0].toUpperCase() + level.slice(1);
  return [
    "The server had committed to its seed before this browser gave its own: neither chose the deal alone.",
    `All ${plays.length} plays are legal, and the points follow: ${points.player} to ${points.computer}.`,
    choicesChecked
      ? `The computer played exactly what ${named} plays, ${replies} times.`
      : `What is not checked here: the choices of ${named}, which searches. “briscola-scores replay” repeats the search.`,
    ...(score ? ["The score event publishes these points under your name."] : []),
    ...(forfeit ? ["That the hand was given up is the server’s word."] : []),
  ];
}
