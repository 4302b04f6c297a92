// What a match is dealt from: the hashes that app/matches/commitment.py describes. Seeds are 32 bytes.

import { sha256 } from "./sha256.js";

const ascii = new TextEncoder();

/** Bytes as lower-case hex digits. @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** The bytes of hex digits, which are the caller's to check. @param {string} digits */
export const fromHex = (digits) => Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));

/** The commitment to a server seed, 64 hex digits. */
export const commitment = ({ match, player, level }, serverSeed, salt) =>
  hex(digest("briscola/1/commit", match, player, level, seed(serverSeed), seed(salt)));

/** The 32 bytes that the deck is shuffled from. */
export const deckSeed = (match, serverSeed, clientSeed) =>
  digest("briscola/1/deck", match, seed(serverSeed), seed(clientSeed));

/** The 32 bytes behind everything random in the computer's play. */
export const playSeed = (match, serverSeed, clientSeed) =>
  digest("briscola/1/play", match, seed(serverSeed), seed(clientSeed));

function seed(bytes) {
  if (!(bytes instanceof Uint8Array) || bytes.length !== 32) throw new RangeError("a seed is a Uint8Array of 32");
  return bytes;
}

/** SHA-256 over fields, each behind its length in two bytes; text as ASCII. */
function digest(...fields) {
  const parts = fields.map((field) => (typeof field === "string" ? ascii.encode(field) : field));
  const message = new Uint8Array(parts.reduce((sum, part) => sum + 2 + part.length, 0));
  let at = 0;
  for (const part of parts) {
    message.set([part.length >> 8, part.length & 255], at);
    message.set(part, at + 2);
    at += 2 + part.length;
  }
  return sha256(message);
}
