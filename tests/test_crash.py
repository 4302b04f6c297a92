"""kill -9 under load: every score that was answered reaches the relay, with the same id and bytes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx

from tests.process import environment, serving
from tests.relays.fake import FakeRelay, nothing, store
from tests.service import make_key, rows

if TYPE_CHECKING:
    from pathlib import Path

    from tests.relays.fake import Event, Peer

CRASHES = 3
POSTERS = 12
ANSWERS = 60  # in each run, before the crash


def careless(peer: Peer, event: Event) -> None:
    """Keep every third event; of the others half are not answered, and half only answered."""
    number = len(peer.relay.events) % 3
    if number == 0:
        store(peer, event)
    elif number == 1:
        nothing(peer, event)
    else:
        peer.relay.stored[event["id"]] = event


@dataclass
class Load:
    """Clients that post until the service dies."""

    url: str
    token: str
    run: int
    answered: list[dict[str, Any]] = field(default_factory=list)
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    async def post(self, http: httpx.AsyncClient, poster: int) -> None:
        """Post for names of one's own, and every third time for a name that all share."""
        headers = {"Authorization": f"Bearer {self.token}"}
        number = 0
        while True:
            number += 1
            name = f"r{self.run}-p{poster}-{number}" if number % 3 else f"shared{number % 2}"
            try:
                body = {"username": name, "score": number % 121}
                answer = await http.post("/v1/scores", json=body, headers=headers)
            except httpx.TransportError:
                return
            if answer.status_code == 429:
                continue  # the shared names run ahead of the clock
            assert answer.status_code == 201, answer.text
            self.answered.append(answer.json()["event"])
            if len(self.answered) >= ANSWERS:
                self.enough.set()


async def crash(env: dict[str, str], token: str, run: int) -> list[dict[str, Any]]:
    """Serve, post, kill; returns the events that were answered."""
    async with serving(env) as serve, httpx.AsyncClient(base_url=serve.url, timeout=30) as http:
        load = Load(serve.url, token, run)
        posters = [asyncio.create_task(load.post(http, poster)) for poster in range(POSTERS)]
        async with asyncio.timeout(60):
            await load.enough.wait()
        serve.process.kill()
        await asyncio.gather(*posters)
        return load.answered


async def test_every_answered_score_survives_crashes_and_reaches_the_relay(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    _, token = make_key(path)
    async with FakeRelay(on_event=careless) as relay:
        env = environment(tmp_path, RELAYS=relay.url)
        answered: list[dict[str, Any]] = []
        for run in range(CRASHES):
            answered += await crash(env, token, run)
        assert len(answered) >= CRASHES * ANSWERS
        relay.stored.clear()
        settled = (
            "SELECT id FROM event JOIN delivery ON seq = event_seq WHERE state IN ('accepted', 'superseded')"
        )
        accepted = {event_id for (event_id,) in rows(path, settled)}
        owed = [event for event in answered if event["id"] not in accepted]
        assert owed, "the crashes left something undelivered"
        relay.on_event = store
        async with serving(env), asyncio.timeout(60):
            await relay.until(lambda: all(event["id"] in relay.stored for event in owed))
        assert all(relay.stored[event["id"]] == event for event in owed)
        assert all(event in relay.events for event in answered if event["id"] in accepted and unshared(event))
    kept = rows(path, "SELECT id, d, created_at FROM event ORDER BY seq")
    assert {event["id"] for event in answered} <= {event_id for event_id, *_ in kept}
    last: dict[str, int] = {}
    for _, d, created_at in kept:
        assert created_at > last.get(d, 0), f"{d} rises strictly"
        last[d] = created_at


def unshared(event: dict[str, Any]) -> bool:
    return not event["tags"][0][1].startswith("shared")
