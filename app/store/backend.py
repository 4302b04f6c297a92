"""What the store asks of a database: SQLite and PostgreSQL each have a module that answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine

READERS = 4
"""How many queries run at the same time."""


class Transactions(Protocol):
    """Runs the transactions of the one writer, one after the other."""

    async def run(self, work: Callable[[Connection], None], *, bulky: bool) -> None:
        """Run `work` in a transaction that is on disk when this returns; it may be called several times.

        Args:
            bulky: `work` may read or write thousands of rows.

        Raises:
            StoreUnavailable: the database is away, or another process holds it; nothing was written.
            OutcomeUnknown: it went away as it committed.
            Exception: what `work` or the commit raised; nothing was written.
        """

    def may_pass(self, error: Exception) -> bool:
        """Whether the same work may succeed if the whole transaction is run once more."""

    async def close(self) -> None:
        """Let go of the connection."""


class Backend(Protocol):
    """One database.

    Attributes:
        name: what messages call it; without a password.
        writer: its transactions are on disk once they have committed.
        reader: its transactions see one state of what is committed, and never wait for the writer.
    """

    name: str
    writer: Engine
    reader: Engine

    def check(self, connection: Connection) -> None:
        """Check that the database can hold what the store keeps; StoreUnusable if not."""

    def hint(self, reason: object) -> str:
        """What to do about the driver's error on opening; begins with its punctuation."""

    def transactions(self) -> Transactions:
        """The writer's transactions; call it inside a running event loop."""

    def lost(self, error: Exception) -> bool:
        """Whether an error of the driver means that the connection is gone, and another one may do."""

    async def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` whenever another process has stored deliveries that nobody holds, until cancelled."""
