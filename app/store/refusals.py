"""Why the ledger signs nothing for a request.

Refused
 ├─ KeyRevoked           the API key is revoked
 ├─ ClockBehind          the machine's clock reads earlier than a time at which it has signed
 ├─ TooFast              the address has run as far ahead of the clock as it may
 ├─ NameTaken            another player owns the name
 ├─ NameBanned           the operator has banned the name
 ├─ KeyReused            the Idempotency-Key came before with another body
 ├─ NotOwner             the score is another player's to delete
 ├─ NothingToDelete      no score stands under the name
 ├─ MatchUnfinished      a match of the same player for this name at this level is still to be played
 └─ MatchesAbandoned     the player has opened too many matches and not played them to their end
"""

from __future__ import annotations


class Refused(Exception):
    """Nothing was signed; the message says why and what to do."""


class KeyRevoked(Refused):
    """The API key is revoked, so nothing was signed with it."""

    def __init__(self) -> None:
        super().__init__("this API key is revoked: ask the operator for another")


class ClockBehind(Refused):
    """The machine's clock reads earlier than a time at which it has signed before.

    Attributes:
        seconds: how far it is behind.
    """

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the clock is {seconds} s behind a time at which a score was signed: set the clock")
        self.seconds = seconds


class TooFast(Refused):
    """An address has run as far ahead of the clock as it may.

    Attributes:
        retry_after: seconds until the next event can be signed.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"too many scores for this name: post again in {retry_after} s")
        self.retry_after = retry_after


class NameTaken(Refused):
    """The name belongs to somebody else."""

    def __init__(self, d: str) -> None:
        super().__init__(f"the name {d!r} belongs to another player, in any spelling: choose another name")


class NameBanned(Refused):
    """Nobody may publish the name."""

    def __init__(self, d: str) -> None:
        super().__init__(f"the name {d!r} is banned here, in any spelling: choose another name")


class KeyReused(Refused):
    """The Idempotency-Key of a request came before with another body."""

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key came before with another body: make a new key for a new score")


class NotOwner(Refused):
    """The score belongs to somebody else."""

    def __init__(self, d: str) -> None:
        super().__init__(
            f"the name {d!r} is not yours: only its owner, or an admin's API key, may delete its score"
        )


class NothingToDelete(Refused):
    """No score stands under the name.

    Attributes:
        deleted_at: `created_at` of the deletion, if there was a score; unix seconds.
    """

    def __init__(self, deleted_at: int | None) -> None:
        super().__init__(
            "the score of this name is deleted already"
            if deleted_at
            else "no score was published under this name"
        )
        self.deleted_at = deleted_at


class MatchUnfinished(Refused):
    """A match that the same player opened for this name at this level is still to be played.

    Attributes:
        match: its id.
    """

    def __init__(self, match: str) -> None:
        super().__init__(
            f"the match {match} of this name at this level is not finished: play on, or resign it first"
        )
        self.match = match


class MatchesAbandoned(Refused):
    """The player has opened too many matches and not played them to their end.

    Attributes:
        retry_after: seconds until the next one may be opened.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__(
            "too many matches that you opened were not played to their end: "
            f"finish one, or open another in {retry_after} s"
        )
        self.retry_after = retry_after
