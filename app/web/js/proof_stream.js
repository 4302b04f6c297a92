// What the server says of proofs as they come: its stream of proved rows, for as long as somebody looks at the page.
// A page in the background has none, for browsers open only a few connections to one host.

const REST_MS = 30_000; // for a server that refused a stream: its Retry-After, which browsers do not show

export class ProofStream {
  #address;
  #tell;
  #level = "";
  #source = null;
  #resting = 0; // until then, in ms since the epoch

  /**
   * @param {string} address of GET /v1/leaderboard/stream
   * @param {(entries: object[], fresh: boolean) => void} tell gets rows of the API; `fresh` ones came just now
   */
  constructor(address, tell) {
    this.#address = address;
    this.#tell = tell;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.#close() : this.follow(this.#level)));
  }

  /** Hear of rows that are proved at this level, "" is any. A stream that is open for it goes on. Call it often. */
  follow(level) {
    const isOpen = this.#source !== null && this.#source.readyState !== EventSource.CLOSED;
    if (document.hidden || Date.now() < this.#resting || (isOpen && level === this.#level)) return;
    this.#close();
    this.#level = level;
    const source = new EventSource(`${this.#address}?proved=1${level && `&level=${level}`}`);
    this.#source = source;
    source.onerror = () => {
      // It comes back by itself from a break, not from a refusal.
      if (source.readyState === EventSource.CLOSED) this.#resting = Date.now() + REST_MS;
    };
    for (const kind of ["board", "change"])
      source.addEventListener(kind, ({ data }) => this.#tell(JSON.parse(data).entries, kind === "change"));
  }

  #close() {
    this.#source?.close();
    this.#source = null;
  }
}
