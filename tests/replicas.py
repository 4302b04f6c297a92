"""Two replicas on one PostgreSQL under load, while replicas are killed and the database is restarted.

`python -m tests.replicas [--kills 10] [--restarts 3]` runs it for long and prints what was counted; it ends
with an AssertionError if a score that was answered is lost, was signed twice, or stands out of order.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from app.store.database import Database
from tests.postgres import PostgresServer, postgres_server
from tests.process import Serving, environment, serving
from tests.relays.fake import FakeRelay
from tests.service import make_key, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

POSTERS = 8
ANSWERS = 30  # between one fault and the next
# What PostgreSQL may lose in a crash, it loses only if it does not wait for the disk.
DURABLE = ("-c", "fsync=on")


@dataclass
class Replicas:
    """Both replicas, and what was answered; a killed one is started again."""

    env: dict[str, str]
    token: str
    serving: list[Serving] = field(default_factory=list)
    answered: list[dict[str, Any]] = field(default_factory=list)
    refused: int = 0
    lost: int = 0
    _stack: AsyncExitStack = field(default_factory=AsyncExitStack)
    _more: asyncio.Event = field(default_factory=asyncio.Event)

    async def start(self) -> None:
        """Start one more."""
        self.serving.append(await self._stack.enter_async_context(serving(self.env)))

    async def kill(self, index: int) -> None:
        """Kill one with SIGKILL, and start another in its place."""
        killed = self.serving.pop(index)
        killed.process.kill()
        await killed.process.wait()
        await self.start()

    async def close(self) -> None:
        """Kill them all."""
        await self._stack.aclose()

    async def answers(self, more: int) -> None:
        """Wait until so many more scores were answered."""
        wanted = len(self.answered) + more
        async with asyncio.timeout(60):
            while len(self.answered) < wanted:
                self._more.clear()
                await self._more.wait()

    async def post(self, poster: int) -> None:
        """Post for fresh names, each until it is answered, and every third time for a name that all share."""
        async with httpx.AsyncClient(timeout=30) as http:
            for number in count():
                name = f"p{poster}-{number}" if number % 3 else f"shared{number % 2}"
                event = await self._post(http, name, number % 121, f"{poster}-{number}")
                if event is not None:
                    self.answered.append(event)
                    self._more.set()

    async def _post(self, http: httpx.AsyncClient, name: str, score: int, key: str) -> dict[str, Any] | None:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": key}
        for attempt in count(hash(key)):
            if not self.serving:
                await asyncio.sleep(0.05)
                continue
            url = self.serving[attempt % len(self.serving)].url
            try:
                body = {"username": name, "score": score}
                answer = await http.post(f"{url}/v1/scores", json=body, headers=headers)
            except httpx.TransportError:
                self.lost += 1
            else:
                if answer.status_code == 201:
                    event: dict[str, Any] = answer.json()["event"]
                    return event
                if answer.status_code == 429:
                    return None  # the shared names run ahead of the clock
                assert answer.status_code == 503, answer.text
                self.refused += 1
            await asyncio.sleep(0.05)
        return None


async def run(server: PostgresServer, url: str, folder: Path, faults: Sequence[str]) -> str:
    """Post while `kill`, `fast` and `immediate` faults come one after the other; returns what was counted."""
    _, token = make_key(url)
    async with FakeRelay() as relay:
        replicas = Replicas(environment(folder, RELAYS=relay.url, DATABASE_URL=url), token)
        posters = []
        try:
            await asyncio.gather(replicas.start(), replicas.start())
            posters = [asyncio.create_task(replicas.post(poster)) for poster in range(POSTERS)]
            for number, fault in enumerate(faults):
                await replicas.answers(ANSWERS)
                if fault == "kill":
                    await replicas.kill(number % 2)
                else:
                    await asyncio.to_thread(server.stop, fault)
                    await asyncio.to_thread(server.start)
            await replicas.answers(ANSWERS)
            for poster in posters:
                poster.cancel()
            done, _ = await asyncio.wait(posters)
            assert all(task.cancelled() for task in done), [task for task in done if not task.cancelled()]
            async with asyncio.timeout(60):
                while await asyncio.to_thread(pending, url):  # noqa: ASYNC110 - other processes settle it
                    await asyncio.sleep(0.2)
        finally:
            await replicas.close()
        check(url, replicas.answered, {event["id"] for event in relay.events})
        return (
            f"{len(faults)} faults: {len(replicas.answered)} scores answered, {len(relay.stored)} at the "
            f"relay, {replicas.refused} calls refused with 503, {replicas.lost} connections lost; "
            "no score lost, none signed twice"
        )


def pending(url: str) -> int:
    """How many deliveries wait."""
    return int(rows(url, "SELECT count(*) FROM delivery WHERE state = 'pending'")[0][0])


def check(url: str, answered: list[dict[str, Any]], sent: set[str]) -> None:
    """Every answered score is kept, was signed once, and was sent or is superseded by a newer one."""
    kept = rows(url, "SELECT id, d, created_at FROM event ORDER BY seq")
    by_id = {event_id: (d, created_at) for event_id, d, created_at in kept}
    newest: dict[str, int] = {}
    for _, d, created_at in kept:
        assert created_at > newest.get(d, 0), f"{d} rises strictly"
        newest[d] = created_at
    names = [d for _, d, _ in kept if not d.startswith("shared")]
    assert len(names) == len(set(names)), "one call, one event"
    for event in answered:
        assert by_id[event["id"]] == (event["tags"][0][1], event["created_at"])
        d, created_at = by_id[event["id"]]
        assert event["id"] in sent or created_at < newest[d], f"{event['id']} was neither sent nor superseded"
    assert len({event["id"] for event in answered}) == len(answered)


def main() -> None:
    """Run it for long."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--restarts", type=int, default=3, help="each fast, then immediate")
    options = parser.parse_args()
    faults = ["kill"] * options.kills + ["fast", "immediate"] * options.restarts
    with (
        tempfile.TemporaryDirectory() as folder,
        postgres_server(*DURABLE) as server,
        server.database() as url,
    ):
        Database(url).close()
        print(asyncio.run(run(server, url, Path(folder), faults)))


if __name__ == "__main__":
    main()
