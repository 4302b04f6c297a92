"""Whatever players, servers and operators do in any order, the ledger agrees with a model of a few lines."""

from __future__ import annotations

import shutil
from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING, Any

import psycopg
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from app.store.api_keys import add_key
from app.store.database import Database
from app.store.journal import Signed
from app.store.ledger import NotImproved, Replayed, Request
from app.store.names import CannotChange, ban_name, list_names, release_name, transfer_name
from app.store.refusals import KeyReused, NameBanned, NameTaken, NothingToDelete, NotOwner, TooFast
from tests.store.players import admin, deletion, game_server, make_ledger, player, request

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from app.principal import Principal
    from app.store.ledger import Ledger
    from tests.postgres import PostgresServer

DAY = 24 * 60 * 60
PEOPLE = ("ann", "ben", "server", "boss")
NAMES = st.sampled_from(["alice", "Alice", "bob", "BOB"])
CLAIMS = st.tuples(
    st.sampled_from(["ann", "ben", "server"]),
    NAMES,
    st.integers(0, 3),
    st.none() | st.tuples(st.sampled_from(["k1", "k2"]), st.sampled_from([b"one", b"other"])),
)
ADDRESSES = NAMES.map(str.lower)


class LedgerMachine(RuleBasedStateMachine):
    """Two replicas, and the model: `versions`, `owners`, `banned` and `attempts`."""

    make_database: Callable[[], str]  # the address of an empty one

    @initialize(best=st.booleans())
    def start(self, best: bool) -> None:
        self.url = type(self).make_database()
        self.best = best
        self.now = 1_700_000_000
        self.versions: dict[str, list[tuple[str, int, int]]] = defaultdict(list)  # kind, created_at, score
        self.owners: dict[str, str] = {}
        self.banned: set[str] = set()
        self.attempts: dict[tuple[str, str], tuple[bytes, int, str, bool]] = {}
        self.open()
        with self.database.writer.begin() as connection:
            server = game_server(add_key(connection, "server", now=0)[0].id)
            boss = admin(add_key(connection, "boss", now=0)[0].id)
        people = (player(1), player(2), server, boss)
        self.people: dict[str, Principal] = dict(zip(PEOPLE, people, strict=True))

    def open(self) -> None:
        self.replicas: list[tuple[Database, Ledger]] = []
        for _ in range(2):
            database = Database(self.url)
            self.replicas.append((database, make_ledger(database, lambda: self.now, best=self.best)))

    @property
    def database(self) -> Database:
        return self.replicas[0][0]

    @property
    def ledger(self) -> Ledger:
        return self.replicas[0][1]

    def close(self) -> None:
        for database, _ in self.replicas:
            database.close()

    def teardown(self) -> None:
        self.close()

    # what happens

    @rule(claims=st.lists(CLAIMS, min_size=1, max_size=4))
    def publish(self, claims: list[Any]) -> None:
        asked: list[Request] = []
        for who, name, score, attempt in claims:
            key, body = attempt or (None, b"")
            asked.append(request(self.people[who], name, score, key, body))
        with self.database.writer.begin() as connection:
            answers = self.ledger.append(connection, asked)
        for (who, name, score, attempt), answer in zip(claims, answers, strict=True):
            self.judge_claim(who, name.lower(), score, attempt, answer)

    def judge_claim(self, who: str, d: str, score: int, attempt: Any, answer: object) -> None:
        if attempt and (kept := self.attempts.get((who, attempt[0]))) and kept[1] > self.now - DAY:
            body, _, event_id, improved = kept
            if body != attempt[1]:
                assert isinstance(answer, KeyReused)
            else:
                assert answer == (Replayed(event_id) if improved else NotImproved(event_id, replayed=True))
            return
        versions = self.versions[d]
        kind, last, standing = versions[-1] if versions else ("nothing", 0, 0)
        if d in self.banned:
            assert isinstance(answer, NameBanned)
        elif self.owners.get(d, who) != who and who != "server":
            assert isinstance(answer, NameTaken)
        elif self.best and kind == "score" and score <= standing:
            assert isinstance(answer, NotImproved)
            assert not answer.replayed
            self.keep(who, attempt, answer.event_id, improved=False)
        elif last + 1 > self.now + 60:
            assert isinstance(answer, TooFast)
            assert answer.retry_after == last + 1 - 60 - self.now
        else:
            assert isinstance(answer, Signed)
            assert answer.event.created_at == max(self.now, last + 1)
            versions.append(("score", answer.event.created_at, score))
            self.owners.setdefault(d, who)
            self.keep(who, attempt, answer.event.id, improved=True)

    def keep(self, who: str, attempt: Any, event_id: str, *, improved: bool) -> None:
        if attempt:
            self.attempts[who, attempt[0]] = (attempt[1], self.now, event_id, improved)

    @rule(who=st.sampled_from(PEOPLE), name=NAMES)
    def delete(self, who: str, name: str) -> None:
        with self.database.writer.begin() as connection:
            (answer,) = self.ledger.delete(connection, [deletion(self.people[who], name)])
        d = name.lower()
        versions = self.versions[d]
        kind, last, score = versions[-1] if versions else ("nothing", None, 0)
        if kind != "score":
            assert isinstance(answer, NothingToDelete)
            assert answer.deleted_at == last
        elif who != "boss" and self.owners.get(d) != who:
            assert isinstance(answer, NotOwner)
        elif last + 1 > self.now + 60:
            assert isinstance(answer, TooFast)
        else:
            assert isinstance(answer, Signed)
            assert answer.event.created_at == max(self.now, last + 1)
            versions.append(("deletion", answer.event.created_at, score))

    @rule(d=ADDRESSES, who=st.sampled_from(["ann", "ben"]))
    def transfer(self, d: str, who: str) -> None:
        with self.database.writer.begin() as connection:
            try:
                transfer_name(connection, d, self.people[who].id, now=self.now)
            except CannotChange:
                assert d in self.banned
            else:
                assert d not in self.banned
                self.owners[d] = who

    @rule(d=ADDRESSES)
    def release(self, d: str) -> None:
        with self.database.writer.begin() as connection:
            try:
                release_name(connection, d)
            except CannotChange:
                assert d not in self.owners
                assert d not in self.banned
        self.owners.pop(d, None)
        self.banned.discard(d)

    @rule(d=ADDRESSES)
    def ban(self, d: str) -> None:
        with self.database.writer.begin() as connection:
            ban_name(connection, d)
        self.banned.add(d)

    @rule(seconds=st.sampled_from([1, 30, DAY]))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def turn_to_the_other_replica(self) -> None:
        self.replicas.reverse()

    @rule()
    def restart(self) -> None:
        self.close()
        self.open()

    # what always holds

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        with self.database.reader.begin() as connection:
            names = list_names(connection)
            rows = connection.exec_driver_sql(
                "SELECT d, kind, created_at, score, min(state), max(state), count(*) FROM event "
                "JOIN delivery ON event_seq = seq GROUP BY seq ORDER BY seq"
            ).all()
        assert {name.name: name.owner for name in names if name.owner} == {
            d: self.people[who].id for d, who in self.owners.items()
        }
        assert {name.name for name in names if name.banned} == self.banned
        stored = defaultdict(list)
        for d, kind, created_at, score, *states in rows:
            stored[d].append(({31250: "score", 5: "deletion"}[kind], created_at, score))
            newest = created_at == self.versions[d][-1][1]
            state = "pending" if newest or kind == 5 else "superseded"
            assert states == [state, state, 2]
        assert stored == {d: versions for d, versions in self.versions.items() if versions}
        for versions in stored.values():
            times = [created_at for _, created_at, _ in versions]
            assert times == sorted(set(times)), "created_at rises strictly"


def run(make_database: Callable[[], str], examples: int) -> None:
    machine = type("Machine", (LedgerMachine,), {"make_database": staticmethod(make_database)})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=30,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )


def test_the_ledger_on_sqlite(tmp_path: Path) -> None:
    """An empty database is made once and copied for every run."""
    template = tmp_path / "template.db"
    Database(f"sqlite:///{template}").close()
    numbers = count()
    run(lambda: f"sqlite:///{shutil.copy(template, tmp_path / f'{next(numbers)}.db')}", examples=20)


def test_the_ledger_on_postgresql(postgres: PostgresServer) -> None:
    """One database is emptied for every run."""
    with postgres.database("TEMPLATE scores") as url:

        def emptied() -> str:
            with psycopg.connect(url) as connection:
                tables = "event, delivery, relay, process, api_key, name, idempotency"
                connection.execute(f"TRUNCATE {tables} CASCADE")
            return url

        run(emptied, examples=8)
