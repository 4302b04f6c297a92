"""GET /metrics, read back with the parser of Prometheus' own Python client."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
from prometheus_client.parser import text_string_to_metric_families

from app import main
from app.config import MirrorSettings
from app.environment import load
from app.mirror import open_mirror
from app.web.problem_kinds import KINDS
from tests.clock import Clock
from tests.relays.fake import FakeRelay, nothing, ok, upgrade
from tests.service import NOWHERE, PUBKEY, PUBLIC_URL, rows, running

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.service import Running


async def scrape(service: Running) -> dict[str, float]:
    """Every sample, by its name and labels as Prometheus writes them, the labels in order."""
    answer = await service.http.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    samples = {}
    for family in text_string_to_metric_families(answer.text):
        assert family.documentation
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            name = f"{sample.name}{{{labels}}}" if labels else sample.name
            assert name not in samples, "one series is told once"
            samples[name] = sample.value
    return samples


async def test_scores_and_calls(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        for _ in range(2):
            assert (await service.post("alice", 72)).status_code == 201
        replayed = [await service.post("bob", 1, **{"Idempotency-Key": "one"}) for _ in range(2)]
        assert [answer.status_code for answer in replayed] == [201, 201]
        await service.post("alice", 121)
        await service.post("alice", 72, Authorization="")
        await service.http.get("/nothing")
        samples = await scrape(service)
    assert samples["briscola_scores_accepted_total"] == 3
    rejected = {name: value for name, value in samples.items() if name.startswith("briscola_scores_rejected")}
    assert len(rejected) == len(KINDS)
    assert {name: value for name, value in rejected.items() if value} == {
        'briscola_scores_rejected_total{reason="invalid-score"}': 1,
        'briscola_scores_rejected_total{reason="unauthenticated"}': 1,
    }
    calls = 'briscola_http_requests_total{method="POST",route="/v1/scores",status="%d"}'
    assert [samples[calls % status] for status in (201, 401, 422)] == [4, 1, 1]
    assert samples['briscola_http_requests_total{method="GET",route="none",status="404"}'] == 1
    duration = 'briscola_http_request_duration_seconds_%s{%smethod="POST",route="/v1/scores"}'
    assert samples[duration % ("count", "")] == samples[duration % ("bucket", 'le="+Inf",')] == 6
    assert 0 < samples[duration % ("sum", "")] < 60


async def test_commits(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        before = await scrape(service)
        await service.post("alice", 72)
        after = await scrape(service)
    for name in ("briscola_store_commit_seconds", "briscola_store_commit_requests"):
        assert after[f"{name}_count"] > before[f"{name}_count"]
        assert after[f'{name}_bucket{{le="+Inf"}}'] == after[f"{name}_count"]
    assert after["briscola_store_commit_requests_sum"] >= after["briscola_store_commit_requests_count"]
    assert after["briscola_store_available"] == 1


async def test_relays_and_what_they_said(tmp_path: Path) -> None:
    async with (
        FakeRelay() as good,
        FakeRelay(on_event=ok(False, "blocked: no")) as bad,
        FakeRelay(on_event=ok(False, "replaced: mine is newer")) as odd,
        running(tmp_path, good.url, bad.url, odd.url) as service,
    ):
        await service.post("alice", 72, Prefer="wait=10")
        samples = await scrape(service)
        for relay, outcome in ((good, "accepted"), (bad, "rejected"), (odd, "conflict")):
            assert samples[f'briscola_relay_connected{{relay="{relay.url}"}}'] == 1
            assert samples[f'briscola_relay_connections_total{{relay="{relay.url}"}}'] == 1
            assert samples[f'briscola_deliveries_pending{{relay="{relay.url}"}}'] == 0
            assert samples[f'briscola_deliveries_oldest_pending_seconds{{relay="{relay.url}"}}'] == 0
            for counted in ("accepted", "rejected", "conflict", "failed", "retried"):
                name = f'briscola_deliveries_total{{outcome="{counted}",relay="{relay.url}"}}'
                assert samples[name] == (1 if counted == outcome else 0)


async def test_what_waits_in_the_store_grows_old(tmp_path: Path) -> None:
    clock = Clock(1_700_000_000.0)
    async with running(tmp_path, NOWHERE, clock=clock) as service:
        await service.post("alice", 72)
        clock.now += 90
        await service.post("bob", 72)
        samples = await scrape(service)
    assert samples[f'briscola_deliveries_pending{{relay="{NOWHERE}"}}'] == 2
    assert samples[f'briscola_deliveries_oldest_pending_seconds{{relay="{NOWHERE}"}}'] == 90
    assert samples[f'briscola_relay_connected{{relay="{NOWHERE}"}}'] == 0


async def test_a_service_that_was_off_for_long_tries_before_it_gives_up(tmp_path: Path) -> None:
    clock = Clock(1_700_000_000.0)
    down = "SELECT count(*) FROM relay WHERE down_since IS NOT NULL"
    async with FakeRelay(on_accept=lambda peer: peer.reset()) as relay:
        async with running(tmp_path, relay.url, clock=clock) as service, asyncio.timeout(10):
            event_id = (await service.post("alice", 72)).json()["event"]["id"]
            while rows(service.path, down) == [(0,)]:  # noqa: ASYNC110 - what happens in a database wakes nobody
                await asyncio.sleep(0.01)
        clock.now += 8 * 86_400
        relay.on_accept = nothing
        # The relay is farther away than the database is.
        relay.on_handshake = lambda *told: asyncio.get_running_loop().call_later(0.5, upgrade, *told)
        async with running(tmp_path, relay.url, clock=clock):
            await relay.until(lambda: event_id in relay.stored)


async def test_what_is_given_up_counts_as_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "_SWEEP_AFTER", 0)
    clock = Clock(1_700_000_000.0)
    down = "SELECT count(*) FROM relay WHERE down_since IS NOT NULL"
    failed = f'briscola_deliveries_total{{outcome="failed",relay="{NOWHERE}"}}'
    async with running(tmp_path, clock=clock) as service, asyncio.timeout(10):
        await service.post("alice", 72)
        await service.post("bob", 72)
        assert (await scrape(service))[failed] == 0
        while rows(service.path, down) == [(0,)]:  # noqa: ASYNC110 - what happens in a database wakes nobody
            await asyncio.sleep(0.01)
    clock.now += 7 * 86_400
    async with running(tmp_path, clock=clock) as service, asyncio.timeout(10):
        while (await scrape(service))[failed] == 0:  # noqa: ASYNC110 - nor does what a task counts
            await asyncio.sleep(0.01)
        assert (await scrape(service))[failed] == 2


async def test_what_waits_for_an_answer_grows_old(tmp_path: Path) -> None:
    clock = Clock(1_700_000_000.0)
    async with FakeRelay(on_event=nothing) as relay, running(tmp_path, relay.url, clock=clock) as service:
        await relay.until(lambda: relay.open_sockets == 1)
        await service.post("alice", 72)
        await relay.until(lambda: len(relay.events) == 1)
        clock.now += 5
        samples = await scrape(service)
        assert samples[f'briscola_relay_in_flight{{relay="{relay.url}"}}'] == 1
        assert samples[f'briscola_deliveries_pending{{relay="{relay.url}"}}'] == 1
        assert samples[f'briscola_deliveries_oldest_pending_seconds{{relay="{relay.url}"}}'] == 5


async def test_a_store_that_is_gone_is_told_and_nothing_is_made_up(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        service.path.unlink()
        samples = await scrape(service)
    assert samples["briscola_store_available"] == 0
    assert not any("pending" in name for name in samples)


async def test_nobody_and_no_token_is_named(tmp_path: Path) -> None:
    urls = [f"{NOWHERE}?token=hidden{number}" for number in range(2)]
    async with running(tmp_path, *urls) as service:
        await service.post("alice", 72)
        await service.http.get("/v1/players/alice")
        text = (await service.http.get("/metrics")).text
        await scrape(service)
    assert f'relay="{NOWHERE} (2)"' in text
    for secret in ("hidden", "alice", service.token, service.key_id):
        assert secret not in text


async def test_a_mirror_tells_what_it_reads(rust_relay: str) -> None:
    environ = {"BRISCOLA_PUBLIC_KEYS": PUBKEY, "BRISCOLA_RELAYS": f"{rust_relay},{NOWHERE}"}
    async with open_mirror(load(MirrorSettings, environ)[0]) as mirror:
        transport = httpx.ASGITransport(mirror.app(PUBLIC_URL))
        async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as http:
            await http.get("/v1/leaderboard")
            text = (await http.get("/metrics")).text
    for line in (
        f'briscola_relay_complete{{relay="{rust_relay}"}} 1.0',
        f'briscola_relay_connected{{relay="{NOWHERE}"}} 0.0',
        'briscola_http_requests_total{method="GET",route="/v1/leaderboard",status="200"} 1.0',
    ):
        assert line in text.splitlines()
    assert "briscola_scores" not in text
