"""The page's rules against the vectors, and against Python's card by card."""

from __future__ import annotations

from app.briscola.cards import DECK, Suit
from app.briscola.trick import winner
from tests.vectors import load
from tests.web.js.node import run

IMPORTS = {
    "rules.js": "deal, play, suit, strength, takes, worth",
    "shuffle.js": "DECK",
}


def test_the_plays_of_the_vectors():
    cases = load("match.json")["matches"]
    answer = run(
        IMPORTS,
        """return given.map(({ deck, plays }) => {
          let hand = deal(deck);
          const movers = plays.map(([, card]) => {
            const mover = ["player", "computer"][hand.toMove];
            hand = play(hand, card);
            return mover;
          });
          return [movers, hand.points, hand.toMove === null];
        });""",
        cases,
    )
    assert answer == [
        [[side for side, _ in case["plays"]], case["points"], case["forfeit"] is None] for case in cases
    ]


def test_cards():
    answer = run(IMPORTS, "return DECK.map((card) => [card, suit(card), strength(card), worth(card)]);", None)
    assert answer == [[str(card), card.suit.letter, int(card.rank), card.points] for card in DECK]


def test_who_takes_every_pair():
    answer = run(
        IMPORTS,
        """return ["B", "C", "D", "S"].map((trump) =>
          DECK.map((led) => DECK.map((reply) => (takes(reply, led, trump) ? 1 : 0))));""",
        None,
    )
    for trump in Suit:
        for led in DECK:
            for reply in DECK:
                if reply is not led:
                    assert answer[trump][led][reply] == winner((led, reply), trump)


def test_what_cannot_be_played():
    answer = run(
        IMPORTS,
        """const told = (what) => { try { return what(); } catch (error) { return error.message; } };
        let hand = deal(DECK);
        const elsewhere = told(() => play(hand, "B2"));
        while (hand.toMove !== null) hand = play(hand, hand.hands[hand.toMove][0]);
        return [elsewhere, told(() => play(hand, "B1"))];""",
        None,
    )
    assert answer == [
        "B2 is not in the hand of seat 0",
        "every card is played",
    ]
