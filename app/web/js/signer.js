// Who signs for a player: a key that this browser keeps, or a Nostr extension (NIP-07,
// https://github.com/nostr-protocol/nips/blob/master/07.md). Both have `pubkey` (hex) and `sign`, which makes an
// event of kind, created_at, tags and content.

import { schnorr } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { bech32 } from "@scure/base";

import { signatureFault } from "./verify.js";

const KEY = "briscola-key";

/** The player cannot sign; the message says why and what to do. */
export class CannotSign extends Error {}

export class BrowserKey {
  #secret;

  /** @param {string} secret 64 hex digits */
  constructor(secret) {
    this.#secret = hexToBytes(secret);
    this.pubkey = bytesToHex(schnorr.getPublicKey(this.#secret));
  }

  /** The key that this browser keeps, made now if there is none. */
  static load() {
    let secret;
    try {
      secret = localStorage.getItem(KEY);
      if (secret === null) localStorage.setItem(KEY, (secret = bytesToHex(schnorr.utils.randomSecretKey())));
    } catch {
      throw new CannotSign("This browser keeps nothing for this site, so no key either: allow storage, or use an extension.");
    }
    return new BrowserKey(secret);
  }

  /** Keep another key instead of the one that is kept. @param {string} text nsec1… (NIP-19) */
  static adopt(text) {
    let secret;
    try {
      const { prefix, bytes } = bech32.decodeToBytes(text.trim());
      if (prefix !== "nsec" || bytes.length !== 32) throw new Error(prefix);
      secret = bytesToHex(bytes);
      schnorr.getPublicKey(bytes);
    } catch {
      // Without what was read: it may be a secret with one letter wrong.
      throw new CannotSign("That is no secret key: one begins with nsec1 and has 63 characters.");
    }
    localStorage.setItem(KEY, secret);
    return new BrowserKey(secret);
  }

  /** The secret key as text (NIP-19). */
  get nsec() {
    return bech32.encodeFromBytes("nsec", this.#secret);
  }

  async sign({ kind, created_at, tags, content }) {
    const hash = sha256(utf8ToBytes(JSON.stringify([0, this.pubkey, created_at, kind, tags, content])));
    const sig = bytesToHex(schnorr.sign(hash, this.#secret));
    return { id: bytesToHex(hash), pubkey: this.pubkey, created_at, kind, tags, content, sig };
  }
}

export class Extension {
  constructor(pubkey) {
    this.pubkey = pubkey;
  }

  static get isThere() {
    return typeof globalThis.nostr?.signEvent === "function";
  }

  /** Ask the extension who the player is. */
  static async load() {
    if (!Extension.isThere) throw new CannotSign("There is no Nostr extension in this browser: use a key kept in it.");
    return new Extension(await asked(() => globalThis.nostr.getPublicKey()));
  }

  async sign(template) {
    const event = await asked(() => globalThis.nostr.signEvent({ ...template, pubkey: this.pubkey }));
    if (event?.pubkey !== this.pubkey || signatureFault(event) !== null)
      throw new CannotSign("The extension signed with another key, or something else: choose the key there and try again.");
    return event;
  }
}

async function asked(question) {
  try {
    return await question();
  } catch {
    throw new CannotSign("The extension did not sign. Allow it there, and try again.");
  }
}

export const npub = (pubkey) => bech32.encodeFromBytes("npub", hexToBytes(pubkey));
