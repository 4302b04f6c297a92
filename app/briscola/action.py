"""What a seat can do: small values that know no table, and their text.

| text       | value               |                                                          |
|------------|---------------------|----------------------------------------------------------|
| `play D3`  | `Play(Card.D3)`     | put a card on the table                                  |
| `bid K`    | `Bid(Rank.KING)`    | chiamata: offer to call a card of this rank              |
| `bid 64`   | `Raise(64)`         | chiamata: after the two, offer to reach that many points |
| `pass`     | `Pass()`            | chiamata: leave the auction                              |
| `call D3`  | `Call(Card.D3)`     | chiamata: name the called card                           |
| `ack 2`    | `Ack(2)`            | seat 2 has seen the summary of a deal                    |

Whose action it is follows from the state, save for `Ack`, which any seat may send at any moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.briscola.cards import DECK, Card, Rank, parse_card
from app.briscola.errors import MalformedAction, MalformedCard, shown

RAISES = range(62, 121, 2)
"""The targets that can be bid once the two stands: 62, 64 … 120."""


@dataclass(frozen=True, slots=True)
class Play:
    """Put a card on the table."""

    card: Card

    def __str__(self) -> str:
        return f"play {self.card}"


@dataclass(frozen=True, slots=True)
class Bid:
    """Offer to call a card of this rank."""

    rank: Rank

    def __str__(self) -> str:
        return f"bid {self.rank.letter}"


@dataclass(frozen=True, slots=True)
class Raise:
    """Offer to reach this many points, once the two is bid."""

    points: int

    def __str__(self) -> str:
        return f"bid {self.points}"


@dataclass(frozen=True, slots=True)
class Pass:
    """Leave the auction."""

    def __str__(self) -> str:
        return "pass"


@dataclass(frozen=True, slots=True)
class Call:
    """Name the called card."""

    card: Card

    def __str__(self) -> str:
        return f"call {self.card}"


@dataclass(frozen=True, slots=True)
class Ack:
    """This seat has seen the summary of the deal."""

    seat: int

    def __str__(self) -> str:
        return f"ack {self.seat}"


Action = Play | Bid | Raise | Pass | Call | Ack

PLAYS: tuple[Play, ...] = tuple(map(Play, DECK))
"""The forty plays by card, made once."""

_BIDS: dict[str, Action] = {
    **{rank.letter: Bid(rank) for rank in Rank},
    **{str(points): Raise(points) for points in RAISES},
}
_SEATS = {str(seat): seat for seat in range(5)}


def parse_action(text: object) -> Action:
    """The action that `text` writes, exactly as `str(action)` does.

    Raises:
        MalformedAction: anything else, what is no text included; the message says what was expected.
    """
    if not isinstance(text, str):
        raise MalformedAction(f"cannot read the action {shown(text)}: an action is a text such as 'play D3'")
    verb, _, rest = text.partition(" ")
    try:
        match verb:
            case "play":
                return PLAYS[parse_card(rest)]
            case "call":
                return Call(parse_card(rest))
            case "bid" if rest in _BIDS:
                return _BIDS[rest]
            case "ack" if rest in _SEATS:
                return Ack(_SEATS[rest])
            case "pass" if text == "pass":
                return Pass()
    except MalformedCard as error:
        raise MalformedAction(f"cannot read the action {shown(text)}: {error}") from error
    raise MalformedAction(
        f"cannot read the action {shown(text)}: expected 'play CARD', 'bid RANK', 'bid POINTS', 'pass', "
        "'call CARD' or 'ack SEAT'"
    )
