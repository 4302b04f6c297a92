// The service's matches over HTTP: signed calls (NIP-98, https://github.com/nostr-protocol/nips/blob/master/98.md)
// or the match's token, and every refusal as an error that says what to do.

import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, randomBytes, utf8ToBytes } from "@noble/hashes/utils.js";

const NIP98 = 27235;
const PASSING = [408, 425, 429, 500, 502, 503, 504];
const ANSWER_MS = 20_000;
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 30_000;

/** A call that was not answered well. `passing`: the same call may be made again, and changes nothing twice. */
export class Refusal extends Error {
  /** @param {{slug?: string, passing?: boolean, problem?: object}} more */
  constructor(message, { slug = "", passing = false, problem = {} }) {
    super(message);
    Object.assign(this, { slug, passing, problem });
  }
}

export class MatchApi {
  #root;
  #service;

  /** @param {string} root path of the service on this host @param {string} service its public address, which is signed */
  constructor(root, service) {
    this.#root = root;
    this.#service = service;
  }

  /**
   * @param {string} path from /v1 on
   * @param {{body?: object, token?: string, signer?: {sign: (template: object) => Promise<object>}}} call a POST if
   *   it has a body
   * @returns the JSON document
   */
  async call(path, { body, token, signer } = {}) {
    const method = body === undefined ? "GET" : "POST";
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = {};
    if (text !== undefined) headers["Content-Type"] = "application/json";
    if (token) headers.Authorization = `Bearer ${token}`;
    else if (signer) headers.Authorization = await authorization(signer, method, this.#service + path, text);
    const options = { method, headers, body: text, cache: "no-store", signal: AbortSignal.timeout(ANSWER_MS) };
    let answer;
    let document;
    try {
      answer = await fetch(this.#root + path, options);
      document = await answer.json();
    } catch {
      if (answer === undefined || answer.ok) throw new Refusal("The server cannot be reached.", { passing: true });
      document = {};
    }
    if (answer.ok) return document;
    const slug = String(document.type ?? "").split("/").pop();
    const said = document.detail ?? `The server answered with status ${answer.status}.`;
    throw new Refusal(said, { slug, passing: PASSING.includes(answer.status), problem: document });
  }
}

async function authorization(signer, method, url, text) {
  const tags = [["u", url], ["method", method], ["nonce", bytesToHex(randomBytes(16))]];
  if (text) tags.push(["payload", bytesToHex(sha256(utf8ToBytes(text)))]);
  const event = await signer.sign({ kind: NIP98, created_at: Math.floor(Date.now() / 1000), tags, content: "" });
  return `Nostr ${btoa(JSON.stringify(event))}`;
}

/** Makes a call until it is answered; in between it says what is the matter, and can be told to try at once. */
export class Patience {
  #tell;
  #again = null;

  /** @param {(trouble: string) => void} tell gets what is the matter, "" once nothing is */
  constructor(tell) {
    this.#tell = tell;
    addEventListener("online", () => this.again());
  }

  again() {
    this.#again?.();
  }

  async of(call) {
    for (let wait = FIRST_WAIT_MS; ; wait = Math.min(2 * wait, LAST_WAIT_MS)) {
      try {
        const answer = await call();
        this.#tell("");
        return answer;
      } catch (error) {
        this.#tell(error.passing ? error.message : "");
        if (!error.passing) throw error;
      }
      await new Promise((resume) => {
        this.#again = resume;
        setTimeout(resume, wait);
      });
    }
  }
}
