"""The host of matches without HTTP: what another process has done meanwhile, and what the sweep sees to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from app.briscola.errors import CardNotInHand, GameOver
from app.match_host import (
    AlreadyDealt,
    InvalidStatement,
    MatchHost,
    MatchOver,
    NotDealt,
    Opened,
    may_play,
)
from app.matches.commitment import InvalidTerms
from app.matches.match import WrongPly
from app.matches.opening import sign_statement
from app.principal import Principal
from app.store.matches import MatchState
from app.store.refusals import MatchUnfinished
from tests.clock import Clock
from tests.service import rows, running
from tests.web.hands import CLIENT_SEED, OTHER, PLAYER

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from sqlalchemy import Connection

    from app.briscola.cards import Card
    from app.nostr.event import Event
    from app.nostr.keys import SecretKey
    from app.store.matches import StoredMatch
    from tests.service import Running

NOW = 1_700_000_000.0
ALICE = Principal(f"nostr:{PLAYER.pubkey}")


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW)


@pytest.fixture
async def service(url: str, clock: Clock) -> AsyncIterator[Running]:
    async with running(url, clock=clock, MATCH_EXPIRY="60") as service:
        yield service


@pytest.fixture
def host(service: Running) -> MatchHost:
    return service.service.host


async def begin(host: MatchHost, level: str = "sharp") -> Opened:
    return await host.open("alice", level, PLAYER.pubkey, ALICE)


def word(match: StoredMatch, seed: bytes = CLIENT_SEED, secret: SecretKey = PLAYER) -> Event:
    return sign_statement(
        secret,
        terms=match.terms,
        commitment_event=match.commitment_event.id,
        commitment=match.commitment,
        client_seed=seed,
        created_at=int(NOW),
    )


async def dealt(host: MatchHost, level: str = "sharp") -> StoredMatch:
    match = (await begin(host, level)).match
    return await host.deal(match, CLIENT_SEED, word(match))


def held(match: StoredMatch) -> tuple[Card, ...]:
    hand = match.hand
    assert hand is not None
    return hand.observation.hand


async def play_on(host: MatchHost, match: StoredMatch, plays: int = 20) -> StoredMatch:
    for _ in range(plays):
        if match.state is MatchState.PLAYING:
            match = await host.play(match, len(match.cards) + 1, held(match)[0])
    return match


async def test_a_token_plays_its_match_alone(host: MatchHost) -> None:
    one, other = await begin(host), await begin(host, "gentle")
    assert may_play(one.match, one.token)
    assert not may_play(one.match, other.token)
    assert one.token not in repr(one)
    with pytest.raises(MatchUnfinished, match=one.match.terms.match):
        await begin(host)
    with pytest.raises(InvalidTerms, match="no level 'hard'"):
        await begin(host, "hard")


async def test_a_deal_needs_the_players_word_and_is_made_once(host: MatchHost) -> None:
    match = (await begin(host)).match
    with pytest.raises(NotDealt):
        await host.play(match, 1, held(await dealt(host, "gentle"))[0])
    for statement in (word(match, bytes(32)), word(match, secret=OTHER)):
        with pytest.raises(InvalidStatement):
            await host.deal(match, CLIENT_SEED, statement)
    first = await host.deal(match, CLIENT_SEED, word(match))
    # Whoever saw it before it was dealt gets the same cards, with the same seed alone.
    assert await host.deal(match, CLIENT_SEED, word(match)) == first
    with pytest.raises(AlreadyDealt):
        await host.deal(match, bytes(32), word(match, bytes(32)))


async def test_a_play_onto_what_was_played_on_elsewhere(host: MatchHost) -> None:
    before = await dealt(host)
    first, second, _ = held(before)
    now = await play_on(host, before, 3)
    assert await host.play(before, 1, first) == now  # it stands, with all that came after
    assert await host.deal(before, CLIENT_SEED, word(before)) == now
    with pytest.raises(WrongPly, match="ply 1 was"):
        await host.play(before, 1, second)
    with pytest.raises(WrongPly, match="next ply is"):
        await host.play(before, 39, second)
    with pytest.raises(CardNotInHand):
        await host.play(now, len(now.cards) + 1, first)
    over = await play_on(host, before)
    assert over.state is MatchState.FINISHED
    assert await host.play(before, 1, first) == over
    with pytest.raises(GameOver):
        await host.play(before, 41, first)


async def test_what_is_given_up_is_over_for_everybody(host: MatchHost, clock: Clock) -> None:
    seen = await dealt(host)
    given_up = await host.resign(seen)
    assert (given_up.state, given_up.forfeit) == (MatchState.FORFEITED, "resigned")
    assert await host.resign(seen) == given_up
    assert await host.deal(seen, CLIENT_SEED, word(seen)) == given_up
    assert await host.last_seen(seen.terms.match) == given_up
    with pytest.raises(MatchOver, match="was given up"):
        await host.play(seen, 1, held(seen)[0])
    seen = await dealt(host)
    clock.now += 61
    expired = await host.last_seen(seen.terms.match)
    assert expired is not None
    assert (expired.state, expired.forfeit) == (MatchState.FORFEITED, "expired")
    with pytest.raises(MatchOver, match="has expired"):
        await host.play(seen, 1, held(seen)[0])
    lapsed = (await begin(host)).match
    await host.resign(lapsed)
    with pytest.raises(MatchOver, match="lapsed"):
        await host.deal(lapsed, CLIENT_SEED, word(lapsed))


async def test_a_play_keeps_a_match_from_expiring(host: MatchHost, clock: Clock) -> None:
    match = await dealt(host)
    for _ in range(4):
        clock.now += 59
        match = await play_on(host, match, 1)
        await host.sweep_once()
    assert match.due == clock.now + 60
    found = await host.find(match.terms.match)
    assert found is not None
    assert found.state is MatchState.PLAYING


async def test_a_clock_that_steps_ahead_forfeits_no_hand_before_half_its_time(url: str) -> None:
    wall, passed = Clock(NOW), Clock(5.0)
    async with running(url, clock=wall, monotonic=passed, MATCH_EXPIRY="60") as service:
        host = service.service.host
        match = await dealt(host)
        wall.now += 86_400
        for _ in range(2):
            await host.sweep_once()
            with pytest.raises(MatchUnfinished):
                await begin(host)
            found = await host.find(match.terms.match)
            assert found is not None
            assert found.state is MatchState.PLAYING
            passed.now += 29
            wall.now += 29
        passed.now += 1
        await host.sweep_once()
        query = "SELECT state, forfeit FROM match WHERE id = ?"
        assert rows(service.path, query, match.terms.match) == [("forfeited", "expired")]


async def test_a_match_that_cannot_be_read_keeps_no_other_from_being_closed(
    service: Running, host: MatchHost, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    broken, sound = await dealt(host), await dealt(host, "gentle")

    def damage(connection: Connection, _: object) -> list[None]:
        connection.execute(text("UPDATE match SET plays = 'XX' WHERE id = :id"), {"id": broken.terms.match})
        return [None]

    await service.service.store.write(damage, None)
    clock.now += 61
    await host.sweep_once()
    assert rows(service.path, "SELECT state FROM match WHERE id = ?", sound.terms.match) == [("forfeited",)]
    assert rows(service.path, "SELECT state FROM match WHERE id = ?", broken.terms.match) == [("playing",)]
    (told,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert broken.terms.match in told.getMessage()
