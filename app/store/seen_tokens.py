"""Tokens that were used: each signs one call, whichever replica it reaches, also after a restart."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.store.cursor import SKIP_LOCKED, cursor_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

# Seconds for which a token is remembered: far longer than any counts, in case clocks differ or are set back.
KEPT = 3600
PRUNE_EVERY = 60

_INSERT = """
    INSERT INTO seen_token (signature, created_at)
    SELECT value, ? FROM each(?) WHERE true
    ON CONFLICT DO NOTHING RETURNING signature
"""
_PRUNE = f"""
    DELETE FROM seen_token
    WHERE signature IN (SELECT signature FROM seen_token WHERE created_at < ? {SKIP_LOCKED})
"""  # noqa: S608 - constants


class TokenUsed(Exception):
    """The token has signed a call before."""

    def __init__(self) -> None:
        super().__init__("this token was used before: sign a new one for each call")


@dataclass(frozen=True, slots=True)
class Token:
    """What is remembered of a token.

    Attributes:
        signature: the event's, hex. Two honest calls may share an id, never a signature.
        created_at: unix seconds.
    """

    signature: str
    created_at: int


class SeenTokens:
    """The memory of used tokens.

    Args:
        clock: wall clock, unix seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._prune_at = 0.0

    def use(self, connection: Connection, tokens: Sequence[Token]) -> list[TokenUsed | None]:
        """Use tokens up; an operation for the writer.

        Returns:
            None for each that is new, TokenUsed for the others.
        """
        cursor = cursor_of(connection)
        by_second: dict[int, list[str]] = defaultdict(list)
        # In one order in every process, so that no two wait for each other.
        for token in sorted(tokens, key=lambda token: token.signature):
            by_second[token.created_at].append(token.signature)
        new = {
            signature
            for second in sorted(by_second)
            for (signature,) in cursor.fetch(_INSERT, second, by_second[second])
        }
        outcomes: list[TokenUsed | None] = []
        for token in tokens:
            outcomes.append(None if token.signature in new else TokenUsed())
            new.discard(token.signature)  # the same token again in this batch
        now = self._clock()
        if now >= self._prune_at:
            cursor.run(_PRUNE, now - KEPT)
            self._prune_at = now + PRUNE_EVERY
        return outcomes
