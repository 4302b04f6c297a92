"""A process of the service on a real store, on virtual time: two of them are what a state machine drives."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.delivery.engine import Engine
from app.nostr.keys import SecretKey
from app.publisher import Publisher
from app.scores.score import Claim
from app.scores.score_event import sign_deletion, sign_score
from app.store import holders
from app.store.database import Database
from app.store.journal import Journal
from app.store.ledger import Ledger
from app.store.outbox import StoreOutbox, register_relays
from app.store.store import Store
from tests.relays.virtual_time import VirtualTimeLoop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.publisher import Receipt

SECRET = SecretKey.parse(f"{2:064x}")


class InlineLoop(VirtualTimeLoop):
    """Does what would run on a thread at once, so that no time passes meanwhile."""

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override] - a future is awaitable just as well
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - the caller gets whatever it was
            future.set_exception(error)
        return future


@dataclass
class Replica:
    """One process: it may be killed, which leaves the store as it stands."""

    publisher: Publisher
    engine: Engine
    outbox: StoreOutbox
    store: Store
    beating: asyncio.Task[None]

    async def publish(self, name: str, score: int) -> Receipt:
        """Publish a score as the service does."""
        return await self.publisher.publish(Claim(name, score))

    async def stop(self) -> None:
        """End as the service does."""
        self.beating.cancel()
        await self.engine.__aexit__(None, None, None)
        await self.outbox.leave()
        await self.store.close()

    async def kill(self) -> None:
        """Be gone: nothing more is written, and what it held stays held until it has been silent for long."""
        self.beating.cancel()
        await self.store.close()
        await self.engine.__aexit__(None, None, None)


async def start(path: Path, relays: list[str], clock: Callable[[], float]) -> Replica:
    """Start a process on the database file."""
    database = Database(f"sqlite:///{path}")
    with database.writer.begin() as connection:
        holder = holders.register(connection, clock())
        ids = register_relays(connection, relays)
    store = Store(database)
    outbox = StoreOutbox(store, holder=holder, relays=ids, clock=clock)
    ledger = Ledger(
        sign=lambda c, at: sign_score(SECRET, username=c.username, score=c.score, created_at=at),
        sign_deletion=lambda d, at: sign_deletion(SECRET, d=d, created_at=at),
        journal=Journal(ids, holder),
        only_improvements=False,
        clock=clock,
    )
    engine = Engine(relays, outbox, sign_auth=lambda *_: None, clock=clock, rng=lambda: 0.5)
    await engine.__aenter__()

    async def beat() -> None:
        while True:
            await asyncio.sleep(holders.BEAT_EVERY)
            await outbox.beat()

    return Replica(Publisher(store, ledger, engine), engine, outbox, store, asyncio.create_task(beat()))
