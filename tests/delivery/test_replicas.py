"""Posts, relays that misbehave, restarts, clock steps and a second replica on one store: nothing is lost."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections import defaultdict
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from app.publisher import Receipt
from app.store.database import Database
from app.store.refusals import ClockBehind, Refused, TooFast
from tests.delivery.replicas import InlineLoop, Replica, start
from tests.delivery.test_nothing_is_lost import BEHAVIOURS
from tests.relays.fake import Event, FakeRelay, Peer, ok
from tests.service import rows

NAMES = ["alice", "Alice", "bob"]
FOLDER = tempfile.TemporaryDirectory(prefix="replicas-machine-")
NUMBERS = count()
HOUR = 3600


@cache
def template() -> Path:
    """An empty database that is made once and copied for every run."""
    path = Path(FOLDER.name) / "template.db"
    Database(f"sqlite:///{path}").close()
    return path


class Wire(FakeRelay):
    """A relay that misbehaves as told, and otherwise refuses what is older than what it holds."""

    def __init__(self) -> None:
        super().__init__(on_event=self.act)
        self.behaviours: list[str] = []

    def act(self, peer: Peer, event: Event) -> None:
        """Do what comes next; without orders, what an honest relay does."""
        d = event["tags"][0][1]
        newer = [one for one in self.stored.values() if one["tags"][0][1] == d]
        if self.behaviours:
            BEHAVIOURS[self.behaviours.pop(0)](peer, event)
        elif any(one["created_at"] > event["created_at"] for one in newer):
            ok(False, "replaced: have newer event")(peer, event)
        else:
            BEHAVIOURS["stores"](peer, event)


class ReplicasMachine(RuleBasedStateMachine):
    """Two processes, two relays, one store; `posted` is what was acknowledged, in order."""

    @initialize()
    def begin(self) -> None:
        self.path = Path(shutil.copy(template(), Path(FOLDER.name) / f"{next(NUMBERS)}.db"))
        self.runner = asyncio.Runner(loop_factory=InlineLoop)
        self.step = 0.0
        self.posted: list[Receipt] = []
        self.relays = [Wire(), Wire()]
        self.replicas: list[Replica] = []
        self.run(self.open())

    async def open(self) -> None:
        for relay in self.relays:
            await relay.__aenter__()
        for _ in range(2):
            self.replicas.append(await self.start())

    async def start(self) -> Replica:
        return await start(self.path, [relay.url for relay in self.relays], self.clock)

    def clock(self) -> float:
        return 1_700_000_000 + asyncio.get_running_loop().time() + self.step

    def run(self, work: Any) -> Any:
        return self.runner.run(work)

    # what happens

    @rule(which=st.integers(0, 1), names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3))
    def post(self, which: int, names: list[str]) -> None:
        async def publish() -> list[Any]:
            posts = [self.replicas[which].publish(name, len(self.posted) % 121) for name in names]
            return await asyncio.gather(*posts, return_exceptions=True)

        for answer in self.run(publish()):
            if isinstance(answer, Refused):
                assert isinstance(answer, TooFast | ClockBehind)
            else:
                assert isinstance(answer, Receipt), answer
                self.posted.append(answer)

    @rule(which=st.integers(0, 1), behaviours=st.lists(st.sampled_from(sorted(BEHAVIOURS)), max_size=6))
    def misbehave(self, which: int, behaviours: list[str]) -> None:
        self.relays[which].behaviours += behaviours

    @rule(seconds=st.sampled_from([0.1, 3, 11, 70]))
    def wait(self, seconds: float) -> None:
        self.run(asyncio.sleep(seconds))

    @rule(which=st.integers(0, 1), cleanly=st.booleans())
    def restart(self, which: int, cleanly: bool) -> None:
        async def again() -> None:
            replica = self.replicas[which]
            await (replica.stop() if cleanly else replica.kill())
            self.replicas[which] = await self.start()

        self.run(again())

    @precondition(lambda self: abs(self.step) < 600)
    @rule(seconds=st.sampled_from([-120, -30, 30, 120]))
    def set_clock(self, seconds: int) -> None:
        self.step += seconds

    # what always holds

    @invariant()
    def created_at_rises_strictly(self) -> None:
        times = defaultdict(list)
        for d, created_at in rows(self.path, "SELECT d, created_at FROM event ORDER BY seq"):
            times[d].append(created_at)
        for each in times.values():
            assert each == sorted(set(each))

    @invariant()
    def what_was_acknowledged_is_in_the_store_under_its_one_id(self) -> None:
        stored = dict(rows(self.path, "SELECT id, payload FROM event"))
        assert stored == {receipt.event_id: receipt.payload for receipt in self.posted}
        sent = {raw for relay in self.relays for raw in relay.raw}
        assert sent <= set(stored.values()), "every attempt sends the same bytes"

    @invariant()
    def nothing_is_accepted_without_the_relays_word(self) -> None:
        accepted = rows(
            self.path,
            "SELECT url, event.id FROM delivery JOIN event ON seq = event_seq "
            "JOIN relay ON relay.id = relay_id WHERE state = 'accepted'",
        )
        ever = {relay.url: set(relay.stored) for relay in self.relays}
        assert all(event_id in ever[url] for url, event_id in accepted)

    def teardown(self) -> None:
        if not hasattr(self, "runner"):
            return
        self.run(self.end())
        self.runner.close()
        for file in self.path.parent.glob(f"{self.path.name}*"):
            file.unlink()

    async def end(self) -> None:
        """The relays recover: every score arrives, or a newer one of the same name has taken its place."""
        for relay in self.relays:
            relay.behaviours.clear()
        async with asyncio.timeout(3 * HOUR):
            while rows(  # noqa: ASYNC110 - what happens in a database wakes nobody
                self.path, "SELECT 1 FROM delivery WHERE state = 'pending'"
            ):
                await asyncio.sleep(20)  # on virtual time
        for replica in self.replicas:
            await replica.stop()
        newest = {
            json.loads(receipt.payload)["tags"][0][1]: receipt.event_id
            for receipt in sorted(self.posted, key=lambda one: json.loads(one.payload)["created_at"])
        }
        states = rows(
            self.path,
            "SELECT event.id, state FROM delivery JOIN event ON seq = event_seq",
        )
        for event_id, state in states:
            assert state in ({"accepted"} if event_id in newest.values() else {"accepted", "superseded"})
        assert len(states) == 2 * len(self.posted)
        for relay in self.relays:
            assert set(newest.values()) <= set(relay.stored)
            await relay.stop()


TestReplicas = ReplicasMachine.TestCase
TestReplicas.settings = settings(
    max_examples=15,
    stateful_step_count=15,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
