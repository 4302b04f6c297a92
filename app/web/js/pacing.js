// How long the table takes (seed 002), in milliseconds; no time at all for who wants no motion.

export const REPLY = 470; // from the player's card to the computer's answer
export const LEAD = 520; // before the computer begins a trick
export const PAIR = 620; // both cards face up, before the points are added

const MOVE = { duration: 240, easing: "cubic-bezier(.2,.8,.2,1)" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

export const pause = (ms) => (still.matches ? Promise.resolve() : new Promise((done) => setTimeout(done, ms)));

/** Let an element come from where another, or it itself, has been; null is nowhere. */
export function fly(element, from, more = {}) {
  if (still.matches || from === null) return;
  const to = element.getBoundingClientRect();
  const [x, y] = [from.x + from.width / 2 - to.x - to.width / 2, from.y + from.height / 2 - to.y - to.height / 2];
  const start = { transform: `translate(${x}px, ${y}px) scale(${from.width / to.width})`, ...more };
  element.animate([start, { transform: "none", opacity: 1 }], MOVE);
}

/** Let an element go to where another one is, and away. */
export async function leave(element, target) {
  if (!still.matches) {
    const [from, to] = [element.getBoundingClientRect(), target.getBoundingClientRect()];
    const [x, y] = [to.x + to.width / 2 - from.x - from.width / 2, to.y + to.height / 2 - from.y - from.height / 2];
    const end = { transform: `translate(${x}px, ${y}px) scale(.4)`, opacity: 0 };
    await element.animate([{ transform: "none", opacity: 1 }, end], MOVE).finished;
  }
  element.remove();
}
