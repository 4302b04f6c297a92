// Asks one relay for one event by its id (NIP-01), so that a score is seen where readers will look for it.

const ANSWER_MS = 8_000;
const MAX_MESSAGE = 128 * 1024;

/** The event as the relay has it, unchecked; null if it has none, or does not answer. */
export function readBack(url, id) {
  return new Promise((done) => {
    let socket;
    const end = (event) => {
      clearTimeout(deadline);
      done(event);
      if (socket?.readyState === WebSocket.OPEN) socket.close();
    };
    const deadline = setTimeout(() => end(null), ANSWER_MS);
    try {
      socket = new WebSocket(url);
    } catch {
      end(null);
      return;
    }
    socket.onopen = () => socket.send(JSON.stringify(["REQ", "score", { ids: [id] }]));
    socket.onclose = () => end(null);
    socket.onmessage = ({ data }) => {
      const message = typeof data === "string" && data.length <= MAX_MESSAGE ? parsed(data) : null;
      if (!Array.isArray(message) || message[1] !== "score") return;
      if (message[0] === "EVENT" && message[2]?.id === id) end(message[2]);
      else if (message[0] === "EOSE" || message[0] === "CLOSED") end(null);
    };
  });
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
