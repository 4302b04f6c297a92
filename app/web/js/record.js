// What the browser keeps of finished hands (seed 002), the best point total among it, and what else the page asks.
// A browser that keeps nothing still plays.

const KEY = "briscola-record";

/** What was kept under a name, null if nothing can be read. */
export function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(name));
  } catch {
    return null;
  }
}

/** Keep a JSON value under a name; null is forgotten. */
export function remember(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // It is not kept, then.
  }
}

/** @returns {{best: number, hands: number, won: number}} */
export function record() {
  const { best, hands, won } = recall(KEY) ?? {};
  return [best, hands, won].every(Number.isInteger) ? { best, hands, won } : { best: 0, hands: 0, won: 0 };
}

/** Add a finished hand; gives the record with it. */
export function addHand(points, won) {
  const old = record();
  const now = { best: Math.max(old.best, points), hands: old.hands + 1, won: old.won + (won ? 1 : 0) };
  remember(KEY, now);
  return now;
}
