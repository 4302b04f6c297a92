// What the browser remembers of finished hands (seed 002): the best point total, and how many were won.

const KEY = "briscola-record";

/** @returns {{best: number, hands: number, won: number}} */
export function record() {
  try {
    const { best, hands, won } = JSON.parse(localStorage.getItem(KEY));
    if ([best, hands, won].every(Number.isInteger)) return { best, hands, won };
  } catch {
    // Nothing is kept, or it cannot be read: a new record begins.
  }
  return { best: 0, hands: 0, won: 0 };
}

/** Add a finished hand. */
export function addHand(points, won) {
  const old = record();
  const now = { best: Math.max(old.best, points), hands: old.hands + 1, won: old.won + (won ? 1 : 0) };
  try {
    localStorage.setItem(KEY, JSON.stringify(now));
  } catch {
    // A browser that keeps nothing still plays.
  }
  return now;
}
