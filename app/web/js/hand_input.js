// How a card of the hand is chosen: by a tap or click, by dragging it onto the table, or by the keyboard (1 to 3,
// or the arrows and Enter).

const DRAG = 8; // pixels that make a press a drag
const LIFT = 60; // pixels above its place from which a card counts as played

/** Calls `choose(card)` for each card that is chosen in `hand`. */
export function listen(hand, choose) {
  let drag = null;
  let dragged = false; // a drag just ended, and the browser may make a click of it

  const release = () => {
    if (drag === null) return;
    drag.card.style.transform = "";
    drag.card.classList.remove("dragged");
    drag = null;
  };

  hand.addEventListener("pointerdown", (event) => {
    const card = event.target.closest(".card");
    if (card === null || event.button !== 0 || !event.isPrimary) return;
    card.setPointerCapture(event.pointerId); // a quick hand is off the card before it has moved at all
    drag = { card, x: event.clientX, y: event.clientY, moved: false };
  });
  hand.addEventListener("pointermove", (event) => {
    if (drag === null || !event.isPrimary) return;
    const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(x, y) < DRAG) return;
    drag.moved = true;
    drag.card.classList.add("dragged");
    drag.card.style.transform = `translate(${x}px, ${y}px)`;
  });
  hand.addEventListener("pointerup", (event) => {
    if (drag?.moved) {
      dragged = true;
      setTimeout(() => (dragged = false));
      if (drag.y - event.clientY > LIFT) choose(drag.card.dataset.card);
    }
    release();
  });
  hand.addEventListener("pointercancel", release);
  hand.addEventListener("click", (event) => {
    const card = event.target.closest(".card");
    if (card !== null && !dragged) choose(card.dataset.card);
  });

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
    if (event.target.closest("input, select, textarea, dialog")) return;
    const cards = [...hand.children];
    const place = ["1", "2", "3"].indexOf(event.key);
    if (place >= 0) {
      if (cards[place]) choose(cards[place].dataset.card);
      return;
    }
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const at = cards.indexOf(document.activeElement);
    if (step === undefined || cards.length === 0 || (at < 0 && document.activeElement !== document.body)) return;
    event.preventDefault();
    cards[at < 0 ? 0 : (at + step + cards.length) % cards.length].focus();
  });
}
