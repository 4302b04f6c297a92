"""What is asked of the match book: each a request of one of its operations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.briscola.cards import Card
    from app.matches.commitment import Secrets, Terms
    from app.matches.transcript import Forfeit
    from app.nostr.event import Event
    from app.principal import Principal
    from app.store.matches import StoredMatch


@dataclass(frozen=True, slots=True)
class Opening:
    """A match to open.

    Attributes:
        token: the hash of the one that is to play it.
        hold: relays whose worker takes the commitment from memory right after the commit.
    """

    terms: Terms
    secrets: Secrets = field(repr=False)
    commitment: str
    token: str = field(repr=False)
    principal: Principal
    hold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Deal:
    """A match to deal with the player's seed, for which the player has signed the statement."""

    match: str
    client_seed: bytes = field(repr=False)
    statement: Event


@dataclass(frozen=True, slots=True)
class Step:
    """Cards to add to those that were played.

    Attributes:
        before: every card so far.
        cards: the player's, and what the computer answered.
        over: the match with these cards played, if its hand is over then.
        d: of the player's name.
        hold: as for `Opening`.
    """

    match: str
    before: tuple[Card, ...]
    cards: tuple[Card, ...] = field(repr=False)
    over: StoredMatch | None
    d: str
    hold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Ending:
    """A match to close; what is closed stays as it is.

    Attributes:
        forfeit: how it ends if it is not played to its end.
        d: of the player's name.
        hold: as for `Opening`.
    """

    match: str
    forfeit: Forfeit
    d: str
    hold: frozenset[str]
