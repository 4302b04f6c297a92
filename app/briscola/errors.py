"""Everything the rules refuse, as one tree.

BriscolaError                 anything below
├── MalformedText             a card, an action or a saved state that cannot be read at all (syntax)
│   ├── MalformedCard         no such card: "B11", "b8", "B8 "
│   ├── MalformedAction       no such action: "plya D3", "bid 63"
│   └── MalformedState        a saved state that is no state, or that no legal play leads to
├── InvalidTerms              a match cannot be played on these terms
└── IllegalAction             well-formed, but the rules forbid it here and now
    ├── UnknownSeat           there is no such seat at this table
    ├── NotYourTurn           another seat is to move
    ├── WrongPhase            this kind of action does not belong to this phase
    ├── GameOver              nothing can be done any more
    ├── CardNotInHand         the card is elsewhere: played, in the stock, in another hand
    ├── BidTooHigh            a bid must be lower than the standing one
    ├── WrongRaise            a raise must name the next points: two above those that stand
    ├── MustBid               the last one standing cannot pass
    └── WrongRank             the called card must have the rank that was won
"""

from __future__ import annotations


def shown(value: object, length: int = 40) -> str:
    """`value` as a message quotes it: the start of its repr, or its type where it has no repr."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply, or an integer of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text[:length]


class BriscolaError(ValueError):
    """The root: catch this to catch every refusal of the rules."""


class MalformedText(BriscolaError):
    """Text that cannot be read at all."""


class MalformedCard(MalformedText):
    """Not one of the forty cards."""


class MalformedAction(MalformedText):
    """Not the text of an action."""


class MalformedState(MalformedText):
    """Not a saved state, or one that no legal play leads to."""


class InvalidTerms(BriscolaError):
    """A match cannot be played on these terms."""


class IllegalAction(BriscolaError):
    """A well-formed action that the rules forbid here and now; the state is as it was."""


class UnknownSeat(IllegalAction):
    """There is no such seat at this table."""


class NotYourTurn(IllegalAction):
    """Another seat is to move."""


class WrongPhase(IllegalAction):
    """This kind of action does not belong to this phase."""


class GameOver(IllegalAction):
    """Nothing can be done any more."""


class CardNotInHand(IllegalAction):
    """The card is not in the hand of the seat to move."""


class BidTooHigh(IllegalAction):
    """A bid must be lower than the standing one."""


class WrongRaise(IllegalAction):
    """A raise must name the next points: two above those that stand."""


class MustBid(IllegalAction):
    """The last one standing cannot pass."""


class WrongRank(IllegalAction):
    """The called card must have the rank that was won."""
