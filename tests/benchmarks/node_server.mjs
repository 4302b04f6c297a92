// A Node server that signs a posted score and keeps nothing: `node node_server.mjs PORT nostr-tools|nostr-wasm`.
import { createServer } from "node:http";

const [port, library] = process.argv.slice(2);
const secret = new Uint8Array(32).fill(0, 0, 31);
secret[31] = 2;

async function signer() {
  if (library === "nostr-tools") {
    const { finalizeEvent } = await import("nostr-tools/pure");
    return (template) => finalizeEvent(template, secret);
  }
  const { initNostrWasm } = await import("nostr-wasm");
  const wasm = await initNostrWasm();
  return (template) => (wasm.finalizeEvent(template, secret), template);
}

const sign = await signer();
createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const { username, score } = JSON.parse(Buffer.concat(chunks));
    const event = sign({
      kind: 31250,
      created_at: Math.floor(Date.now() / 1000),
      tags: [["d", username.toLowerCase()], ["app", "briscola-score"], ["username", username], ["score", String(score)]],
      content: JSON.stringify({ v: 1, username, score }),
    });
    const body = JSON.stringify(event);
    response.writeHead(201, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
    response.end(body);
  });
}).listen(Number(port), "127.0.0.1", () => console.log("listening"));
