// A transcript checked from beginning to end in the page itself, as app/matches/replay.py does on the server: all
// but the choices of the level master, which only the server searches for.

import { commitment, deckSeed, fromHex, hex } from "./commitment.js";
import { KIND as OPENING_KIND, commitmentTags, statementTags } from "./opening.js";
import { LEVELS, choose } from "./opponent.js";
import { deal, play } from "./rules.js";
import { sha256 } from "./sha256.js";
import { shuffledDeck } from "./shuffle.js";
import { KIND, readTranscript } from "./transcript.js";

const SCORE_KIND = 31250;
const SIDES = ["player", "computer"];

/**
 * Check everything in a transcript.
 *
 * @param {string} text the event that holds it, as JSON
 * @param {string[]} appKeys the app's public keys, 64 hex digits each
 * @param {(signature: string, digest: string, pubkey: string) => boolean} verifySignature BIP-340, all in hex
 * @returns the fields of the server's verdict, `proved` and `not_proved` apart; it never throws for a transcript
 */
export function replay(text, appKeys, verifySignature) {
  let event, transcript;
  try {
    ({ event, transcript } = readTranscript(text));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return verdict([error.message], null);
  }
  const choicesChecked = LEVELS.includes(transcript.level);
  const { hand, falsePly, fault } = playOut(transcript, choicesChecked);
  const reasons = [
    ...eventFaults(event, transcript, appKeys, verifySignature),
    ...matchFaults(transcript, hand, fault),
  ].filter((reason) => reason !== null);
  if (reasons.length > 0) return verdict(reasons, event.id, { false_ply: falsePly });
  const { match, player, username, level, points, forfeit } = transcript;
  return verdict([], event.id, {
    ...{ match, player, username, level, points, forfeit },
    score_event: transcript.score_event?.id ?? null,
    choices_checked: choicesChecked,
  });
}

const verdict = (reasons, id, found = {}) => ({
  id,
  ok: reasons.length === 0,
  reasons,
  false_ply: null,
  match: null,
  player: null,
  username: null,
  level: null,
  points: null,
  forfeit: null,
  score_event: null,
  choices_checked: false,
  ...found,
});

/** The hand as far as its plays are right, and the first ply (from 1) that is not. */
function playOut({ match, server_seed, client_seed, level, plays }, choicesChecked) {
  let hand = deal(shuffledDeck(deckSeed(match, fromHex(server_seed), fromHex(client_seed))));
  for (const [index, [side, card]] of plays.entries()) {
    const wrong = (why) => ({ hand, falsePly: index + 1, fault: `ply ${index + 1} ${why}` });
    const mover = SIDES[hand.toMove];
    if (side !== mover) return wrong(`is the ${mover}'s, not the ${side}'s`);
    if (choicesChecked && side === "computer") {
      const choice = choose(level, hand);
      if (choice !== card) return wrong(`is ${card}, but level ${level} plays ${choice} here`);
    }
    if (!hand.hands[hand.toMove].includes(card)) {
      return wrong(`breaks the rules: ${card} is not in the hand of seat ${hand.toMove}`);
    }
    hand = play(hand, card);
  }
  return { hand, falsePly: null, fault: null };
}

/** What is wrong with the transcript's own event and those in it, null for each that is right. */
function eventFaults(event, transcript, appKeys, verifySignature) {
  const { match, player, username, client_seed, points } = transcript;
  const committed = transcript.commitment;
  const score = transcript.score_event;
  const fault = (name, it, kind, signers, tags, content) =>
    eventFault(it, name, { kind, signers, tags, content }, verifySignature);
  const tags = [["d", match], ...(score ? [["e", score.id]] : [])];
  const opening = commitmentTags(transcript, committed);
  const statement = statementTags(match, transcript.commitment_event.id, committed, client_seed);
  const scored = [
    ["d", username.toLowerCase()],
    ["app", "briscola-score"],
    ["username", username],
    ["score", String(points.player)],
  ];
  return [
    fault("transcript", event, KIND, appKeys, tags, event.content),
    fault("commitment event", transcript.commitment_event, OPENING_KIND, appKeys, opening, ""),
    fault("statement", transcript.statement, OPENING_KIND, [player], statement, ""),
    score &&
      fault("score event", score, SCORE_KIND, appKeys, scored, JSON.stringify({ v: 1, username, score: points.player })),
  ];
}

/** What keeps an event from being just these tags and this content, signed by one of `signers`. */
function eventFault(event, name, { kind, signers, tags, content }, verifySignature) {
  if (event.kind !== kind) return `the ${name} is of kind ${event.kind}: it must be of kind ${kind}`;
  if (!signers.includes(event.pubkey)) return `the ${name} is signed by ${event.pubkey}, who may not sign it`;
  if (JSON.stringify(event.tags) !== JSON.stringify(tags)) return `the ${name} has other tags than it must have`;
  if (event.content !== content) return `the ${name} has another content than it must have`;
  const { pubkey, created_at } = event;
  const hashed = JSON.stringify([0, pubkey, created_at, kind, tags, content]);
  if (hex(sha256(new TextEncoder().encode(hashed))) !== event.id) {
    return `the ${name} is not signed: the id is not the hash of the event`;
  }
  return verifySignature(event.sig, event.id, pubkey)
    ? null
    : `the ${name} is not signed: the signature is not this public key's for this id`;
}

/** What is wrong with the match itself: its commitment, its plays, how it ended. */
function* matchFaults(transcript, hand, fault) {
  const { server_seed, salt, points, forfeit } = transcript;
  if (commitment(transcript, fromHex(server_seed), fromHex(salt)) !== transcript.commitment) {
    yield "the commitment is not the hash of match, player, level, server seed and salt";
  }
  if (fault !== null) {
    yield fault;
    return;
  }
  const [player, computer] = hand.points;
  if (points.player !== player || points.computer !== computer) {
    yield `the points are ${player} and ${computer}, not as the transcript has them`;
  }
  if ((hand.toMove === null) !== (forfeit === null)) {
    yield "a hand is forfeited if, and only if, it is not played to its end";
  }
  if (forfeit !== null && transcript.score_event !== null) yield "a forfeited hand has no score event";
}
