"""What a match is played on: variant, target score, first dealer, timeouts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from app.briscola.auction import PLAIN_TARGET
from app.briscola.chiamata import Chiamata
from app.briscola.errors import InvalidTerms, shown
from app.briscola.variants import VARIANTS

if TYPE_CHECKING:
    from app.briscola.observation import Json

TARGETS = range(PLAIN_TARGET, 121)
"""The target scores a match can be played to."""


@dataclass(frozen=True, slots=True)
class Terms:
    """Settled before the first deal and never changed.

    Attributes:
        variant: a name in `VARIANTS`.
        target_score: 61 to 120; a chiamata takes none, because its auction settles the target.
        first_dealer: the seat that deals first; the one after it leads.
        turn_timeout: seconds a seat may take over an action, None for ever.
        hand_ack_timeout: seconds the seats may take to acknowledge a deal, None for ever.

    Raises:
        InvalidTerms: a match cannot be played on these.
    """

    variant: str
    target_score: int = PLAIN_TARGET
    first_dealer: int = 0
    turn_timeout: float | None = None
    hand_ack_timeout: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.variant, str) or self.variant not in VARIANTS:
            raise InvalidTerms(f"no variant {shown(self.variant)}: there are {', '.join(VARIANTS)}")
        if type(self.target_score) is not int or self.target_score not in TARGETS:
            raise InvalidTerms(
                f"the target score is {shown(self.target_score)}: it must be a whole number from 61 to 120"
            )
        if self.single_deal and self.target_score != PLAIN_TARGET:
            raise InvalidTerms("a chiamata takes no target score: its auction settles the target")
        if type(self.first_dealer) is not int or self.first_dealer not in range(self.seats):
            raise InvalidTerms(f"first_dealer is {shown(self.first_dealer)}: a seat is 0 to {self.seats - 1}")
        for name in ("turn_timeout", "hand_ack_timeout"):
            seconds = getattr(self, name)
            if seconds is not None and not (is_seconds(seconds) and seconds > 0):
                raise InvalidTerms(f"{name} is {shown(seconds)}: it must be a positive number of seconds")

    @property
    def single_deal(self) -> bool:
        """Whether the first deal that is no patta decides, rather than the running score."""
        return self.variant == Chiamata.variant

    @property
    def seats(self) -> int:
        """How many play."""
        return VARIANTS[self.variant].seats

    def to_json(self) -> dict[str, Json]:
        """Every field by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: object) -> Terms:
        """The terms that `to_json` wrote.

        Raises:
            InvalidTerms: any other value; the message says what is wrong with it.
        """
        names = [field.name for field in fields(cls)]
        if not isinstance(value, dict) or set(value) != set(names):
            raise InvalidTerms(f"terms are an object of {', '.join(names)}")
        return cls(**value)


def is_seconds(value: object) -> bool:
    """Whether `value` is a number fit for a clock reading or a span of time: neither NaN nor beyond 10^12."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 10**12
