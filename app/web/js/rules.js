// Two-player briscola, as app/briscola/two_player.py plays it: seat 0 leads the first trick, whoever takes a
// trick draws first and leads the next, and any card may be played. A hand is never changed: `play` gives a new one.

// From the weakest to the strongest number.
const ORDER = [2, 4, 5, 6, 7, 8, 9, 10, 3, 1];
const WORTH = new Map([[1, 11], [3, 10], [10, 4], [9, 3], [8, 2]]);

/** The suit's letter of a card: B, C, D or S. */
export const suit = (card) => card[0];

/** The card points of a card; the deck holds 120. */
export const worth = (card) => WORTH.get(Number(card.slice(1))) ?? 0;

/** The place of a card in the order of its suit, from 0 for the two to 9 for the ace. */
export const strength = (card) => ORDER.indexOf(Number(card.slice(1)));

/** Whether `reply` takes the trick that `led` began. */
export const takes = (reply, led, trump) =>
  suit(reply) === suit(led) ? strength(reply) > strength(led) : suit(reply) === trump;

/**
 * The hand as dealt from forty cards.
 *
 * `hands` are in the order the cards came, `stock` in the order they are drawn, `table` holds the trick so far,
 * `toMove` is 0, 1, or null once every card is played.
 */
export function deal(deck) {
  return {
    trump: suit(deck[6]),
    faceUp: deck[6],
    stock: [...deck.slice(7), deck[6]],
    hands: [0, 1].map((seat) => [0, 2, 4].map((at) => deck[at + seat])),
    table: [],
    points: [0, 0],
    toMove: 0,
  };
}

/** The hand after the seat to move has played `card`; throws a RangeError if it cannot. */
export function play(hand, card) {
  const seat = hand.toMove;
  if (seat === null) throw new RangeError("every card is played");
  if (!hand.hands[seat].includes(card)) throw new RangeError(`${card} is not in the hand of seat ${seat}`);
  const hands = hand.hands.map((cards, of) => (of === seat ? cards.filter((other) => other !== card) : cards));
  if (hand.table.length === 0) return { ...hand, hands, table: [card], toMove: 1 - seat };
  const [led] = hand.table;
  const taker = takes(card, led, hand.trump) ? seat : 1 - seat;
  const points = [...hand.points];
  points[taker] += worth(led) + worth(card);
  const [first, second, ...stock] = hand.stock;
  if (first !== undefined) {
    hands[taker] = [...hands[taker], first];
    hands[1 - taker] = [...hands[1 - taker], second];
  }
  return { ...hand, hands, stock, points, table: [], toMove: hands[taker].length ? taker : null };
}
