from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.briscola.action import Action, Bid, Call, Pass, Play, Raise, parse_action
from app.briscola.auction import Auction
from app.briscola.cards import Card, Rank
from app.briscola.chiamata import Chiamata
from app.briscola.errors import BidTooHigh, BriscolaError, MustBid, WrongPhase, WrongRaise
from tests.vectors import action_text, load

VECTORS = load("chiamata.json")
AUCTIONS = [
    pytest.param(deal["first"], deal["auction"], id=f"{match['name']}-{number}")
    for match in VECTORS["matches"]
    for number, deal in enumerate(match["deals"], 1)
]


def described(auction: Auction) -> dict[str, Any]:
    """The auction in the vectors' words."""
    standing = auction.standing
    rank = standing.rank.letter if isinstance(standing, Bid) else "2" if standing else None
    return {
        "turn": auction.turn,
        "active": list(auction.active),
        "standing_rank": rank,
        "standing_points": standing.points if isinstance(standing, Raise) else None,
        "bidder": auction.bidder,
        "done": auction.is_over,
    }


def after(first: int, *actions: Action) -> Auction:
    auction = Auction.open(first)
    for action in actions:
        auction = auction.apply(action)
    return auction


@pytest.mark.parametrize(("first", "entries"), AUCTIONS)
def test_auction_of_the_vectors(first: int, entries: list[dict[str, Any]]) -> None:
    auction = Auction.open(first)
    for entry in entries:
        assert auction.turn == entry["player"]
        assert [str(action) for action in auction.legal_actions()] == [
            action_text(legal) for legal in entry["legal"]
        ]
        auction = auction.apply(parse_action(action_text(entry)))
        assert described(auction) == entry["after"]
    assert auction.legal_actions() == ()


@pytest.mark.parametrize("case", [pytest.param(c, id=c["why"]) for c in VECTORS["auction_refusals"]])
def test_refusal_of_the_vectors(case: dict[str, Any]) -> None:
    """Jumps in points (`either`) are refused: the vectors' own lists of legal actions know none."""
    state = Chiamata.start(tuple(Card), (case["dealer"] + 1) % 5)
    for entry in case["before"]:
        state = state.apply(parse_action(action_text(entry)))
    assert described(state.auction) == case["state"]
    with pytest.raises(BriscolaError):
        state.act(case["player"], parse_action(action_text(case["attempt"])))
    assert described(state.auction) == case["state"]


@pytest.mark.parametrize(
    ("actions", "attempt", "error", "message"),
    [
        ([Bid(Rank.KING)], Bid(Rank.KING), BidTooHigh, "king is not lower than the king"),
        ([Bid(Rank.KING)], Bid(Rank.ACE), BidTooHigh, "ace is not lower than the king"),
        ([Bid(Rank.TWO), Raise(62)], Bid(Rank.TWO), BidTooHigh, "62 points stand"),
        ([], Raise(62), WrongPhase, "only once the two stands"),
        ([Bid(Rank.FOUR)], Raise(62), WrongPhase, "only once the two stands"),
        ([Bid(Rank.TWO)], Raise(64), WrongRaise, "64 is not the next raise: bid 62 points"),
        ([Bid(Rank.TWO), Raise(62)], Raise(62), WrongRaise, "62 is not the next raise: bid 64 points"),
        (
            [Bid(Rank.TWO), *map(Raise, range(62, 121, 2))],
            Raise(120),
            WrongRaise,
            "nothing is left but to pass",
        ),
        ([Pass()] * 4, Pass(), MustBid, "bid any rank"),
        ([], Play(Card.B1), WrongPhase, "'play B1' does not belong to the auction"),
        ([Bid(Rank.ACE)], Call(Card.B1), WrongPhase, "'call B1' does not belong to the auction"),
        ([Bid(Rank.ACE), *[Pass()] * 4], Bid(Rank.THREE), WrongPhase, "the auction is over"),
    ],
)
def test_refusals_say_what_is_wrong(
    actions: list[Action], attempt: Action, error: type[BriscolaError], message: str
) -> None:
    auction = after(0, *actions)
    with pytest.raises(error, match=message):
        auction.apply(attempt)


def test_target_and_rank_follow_the_bidding() -> None:
    assert after(3).target == 61
    assert after(3).won is None
    running = after(3, Bid(Rank.TWO), Raise(62))
    assert (running.target, running.won) == (62, None)
    won = after(3, Bid(Rank.TWO), Raise(62), *[Pass()] * 4)
    assert (won.target, won.won, won.bidder) == (62, Rank.TWO, 4)
    last = after(3, *[Pass()] * 4, Bid(Rank.SIX))
    assert (last.target, last.won, last.bidder) == (61, Rank.SIX, 2)


def test_the_longest_auction_takes_44_actions() -> None:
    """Ten ranks and the thirty raises 62 … 120, each bid in turn, then four passes."""
    auction, taken = Auction.open(0), 0
    while not auction.is_over:
        bids = [action for action in auction.legal_actions() if action != Pass()]
        auction = auction.apply(bids[0] if bids else Pass())
        taken += 1
    assert taken == 10 + 30 + 4
    assert (auction.target, auction.won, auction.bidder) == (120, Rank.TWO, 39 % 5)


@given(st.integers(0, 4), st.data())
def test_every_auction_has_one_winner_and_never_goes_back(first: int, data: st.DataObject) -> None:
    auction = Auction.open(first)
    bids: list[int] = []
    while not auction.is_over:
        assert auction.turn in auction.active
        action = data.draw(st.sampled_from(auction.legal_actions()))
        auction = auction.apply(action)
        if isinstance(action, Bid):
            bids.append(-action.rank)
        elif isinstance(action, Raise):
            bids.append(action.points)
    assert bids == sorted(set(bids))
    assert auction.active == (auction.bidder,)
    assert auction.target == (bids[-1] if bids[-1] > 0 else 61)
