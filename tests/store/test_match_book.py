"""A match in the store, step by step: what is written when, what two at once come to; on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.matches.replay import verify_transcript
from app.matches.transcript import Forfeit, parse_transcript
from app.nostr.event import parse_event
from app.principal import PUBLISH_ANY, Principal
from app.store.api_keys import add_key, revoke_key
from app.store.ledger import Request
from app.store.match_book import Written
from app.store.matches import (
    MatchState,
    Tally,
    Unpublished,
    due_matches,
    find_proofs,
)
from app.store.names import ban_name, transfer_name
from app.store.refusals import ClockBehind, MatchesAbandoned, MatchUnfinished, NameTaken, Refused
from app.store.scores import find_score, latest_score
from tests.clock import Clock
from tests.store.match_table import ALICE, CLIENT_SEED, EXPIRY, HIDDEN, NOW, Table
from tests.store.players import RELAYS, SECRET, player, request

if TYPE_CHECKING:
    from app.store.database import Database


@pytest.fixture
def clock() -> Clock:
    return Clock(NOW + 0.5)


@pytest.fixture
def table(database: Database, clock: Clock) -> Table:
    return Table(database, clock)


A, B = "a" * 32, "b" * 32


def test_a_whole_match_is_one_score_and_one_transcript_that_replays(table: Table) -> None:
    (signed,) = table.open(A)  # type: ignore[misc]
    assert signed.event.kind == 78
    assert table.find(A).state is MatchState.COMMITTED
    assert table.deal(A)
    hand = table.play_to_end(A)
    found = table.find(A)
    assert (found.state, found.due, found.unpublished) == (MatchState.FINISHED, None, None)
    text = table.transcript(A)
    assert text is not None
    verdict = verify_transcript(text, {SECRET.pubkey})
    assert verdict.reasons == ()
    assert verdict.points == hand.points
    assert verdict.score_event == found.score
    assert (table.count(78), table.count(31250), table.count(30078)) == (1, 1, 1)
    assert table.deliveries(30078) == len(RELAYS)
    assert table.tally() == Tally(dealt=1, finished=1, forfeited=0)
    with table.database.reader.begin() as connection:
        score = find_score(connection, str(found.score))
        assert score is not None
        assert score.score == hand.points.player
        assert score.proof is not None
        assert (score.proof.match, score.proof.level) == (A, "sharp")
        assert score.proof.transcript == found.transcript
        assert latest_score(connection, "alice") == score
        assert find_proofs(connection, [str(found.score), "f" * 64]) == [
            (found.score, A, "sharp", found.transcript)
        ]


def test_a_step_onto_what_is_no_longer_there_is_not_written(table: Table) -> None:
    table.open(A)
    table.deal(A)
    before = table.find(A).hand
    first, written = table.step(A, before)
    assert isinstance(written, Written)
    assert (written.due, written.published) == (table.find(A).due, ())
    again, lost = table.step(A, before)
    assert lost is None
    assert table.find(A).cards == tuple(ply.card for ply in first.plays)
    assert again.plays == first.plays


def test_a_deal_is_made_once(table: Table) -> None:
    table.open(A)
    assert table.deal(A)
    assert not table.deal(A, b"\4" * 32)
    assert table.find(A).client_seed == CLIENT_SEED


def test_one_unfinished_match_of_each_player_for_a_name_and_level(table: Table) -> None:
    table.open(A)
    refused = table.open(B)
    assert isinstance(refused, MatchUnfinished)
    assert refused.match == A
    assert not isinstance(table.open(B, level="gentle"), Refused)
    assert isinstance(table.open("c" * 32, player(7)), NameTaken)
    assert isinstance(table.open("c" * 32, player(7), name="ALICE"), NameTaken)


def test_who_opens_matches_without_end_has_to_wait(table: Table, clock: Clock) -> None:
    def resign(number: int) -> object:
        opened = table.open(f"{number:032x}", name=f"a{number}")
        if not isinstance(opened, Refused):
            table.close(f"{number:032x}", Forfeit.RESIGNED)
        return opened

    table.open("f" * 32, name="finished")
    table.deal("f" * 32)
    table.play_to_end("f" * 32)
    for number in range(200):
        assert not isinstance(resign(number), Refused)
        clock.now += 60
    refused = resign(200)
    assert isinstance(refused, MatchesAbandoned)
    assert refused.retry_after == 86_400 - 200 * 60
    assert not isinstance(table.open("e" * 32, player(7), name="other"), Refused)
    clock.now += refused.retry_after - 1
    assert isinstance(resign(200), MatchesAbandoned)
    clock.now += 1
    assert not isinstance(resign(200), Refused)
    assert isinstance(resign(201), MatchesAbandoned)  # until the next one is a day old


def test_an_api_key_opens_matches_for_thousands(database: Database, table: Table) -> None:
    with database.writer.begin() as connection:
        key, _ = add_key(connection, "site", now=NOW)
    site = Principal(f"key:{key.id}", key.id, frozenset({PUBLISH_ANY}))
    for number in range(201):
        assert not isinstance(table.open(f"{number:032x}", site, name=f"a{number}"), Refused)


def test_a_match_of_whoever_had_the_name_before_keeps_nobody_waiting(table: Table) -> None:
    table.open(A)
    table.deal(A)
    with table.database.writer.begin() as connection:
        transfer_name(connection, "alice", player(7).id, now=NOW)
    assert not isinstance(table.open(B, player(7)), Refused)
    assert isinstance(table.open("c" * 32, player(7)), MatchUnfinished)
    table.play_to_end(A)
    assert table.find(A).unpublished is Unpublished.NAME_TAKEN
    table.deal(B)
    table.play_to_end(B)
    assert table.find(B).score is not None


def test_what_has_expired_makes_room_by_itself(table: Table, clock: Clock) -> None:
    table.open(A)
    table.deal(A)
    clock.now += EXPIRY + 1
    assert not isinstance(table.open(B), Refused)
    assert table.find(A).state is MatchState.FORFEITED
    assert table.find(A).forfeit is Forfeit.EXPIRED


@pytest.mark.parametrize("forfeit", Forfeit)
def test_a_hand_that_is_left_is_forfeited_and_shows_its_seeds(
    table: Table, clock: Clock, forfeit: Forfeit
) -> None:
    table.open(A)
    table.deal(A)
    table.step(A)
    with table.database.reader.begin() as connection:
        assert due_matches(connection, clock.now) == []
    clock.now += EXPIRY + 1
    with table.database.reader.begin() as connection:
        assert due_matches(connection, clock.now) == [A]
    (signed,) = table.close(A, forfeit)  # type: ignore[misc]
    verdict = verify_transcript(signed.payload, {SECRET.pubkey})
    assert verdict.ok
    assert verdict.forfeit is forfeit
    assert parse_transcript(parse_event(signed.payload).content).secrets == HIDDEN
    assert table.count(31250) == 0
    assert table.tally() == Tally(dealt=1, finished=0, forfeited=1)
    assert table.close(A, forfeit) == ()
    assert table.step(A)[1] is None
    assert table.count(30078) == 1


def test_a_match_that_rests_is_not_expired_early(table: Table, clock: Clock) -> None:
    table.open(A)
    clock.now += EXPIRY - 10
    table.deal(A)
    clock.now += EXPIRY - 10
    assert table.close(A, Forfeit.EXPIRED) == ()
    assert table.find(A).state is MatchState.PLAYING


def test_a_match_that_is_never_dealt_lapses_without_a_word(table: Table, clock: Clock) -> None:
    table.open(A)
    clock.now += EXPIRY + 1
    assert table.close(A, Forfeit.EXPIRED) == ()
    assert table.find(A).state is MatchState.LAPSED
    assert table.transcript(A) is None
    assert table.tally() == Tally(0, 0, 0)
    assert not table.deal(A)


def test_a_name_that_is_ahead_of_the_clock_delays_the_score_and_never_refuses_it(
    table: Table, clock: Clock
) -> None:
    table.open(A)
    table.deal(A)
    with table.database.writer.begin() as connection:
        for _ in range(61):
            table.ledger.append(connection, [request(ALICE, "alice", 1)])
    hand = table.play_to_end(A)
    found = table.find(A)
    assert (found.state, found.unpublished) == (MatchState.FINISHED, Unpublished.WAITING)
    assert (found.score, found.transcript) == (None, None)
    assert found.hand == hand
    assert found.due is not None
    clock.now = found.due
    assert len(table.close(A, Forfeit.EXPIRED)) == 2  # type: ignore[arg-type]
    found = table.find(A)
    assert (found.state, found.unpublished, found.forfeit) == (MatchState.FINISHED, None, None)
    with table.database.reader.begin() as connection:
        score = latest_score(connection, "alice")
    assert score is not None
    assert (score.event_id, score.score) == (found.score, hand.points.player)


def test_a_clock_that_was_set_back_delays_it_too(table: Table, clock: Clock) -> None:
    table.open(A)
    table.deal(A)
    clock.now -= 100
    assert isinstance(table.close(A, Forfeit.RESIGNED), ClockBehind)
    table.play_to_end(A)
    assert table.find(A).unpublished is Unpublished.WAITING
    clock.now = NOW + 1
    table.close(A, Forfeit.EXPIRED)
    assert table.find(A).score is not None


@pytest.mark.parametrize(("change", "why"), [("ban", "name-banned"), ("transfer", "name-taken")])
def test_a_name_that_was_lost_meanwhile_gets_no_score_and_the_match_its_transcript(
    table: Table, change: str, why: str
) -> None:
    table.open(A)
    table.deal(A)
    with table.database.writer.begin() as connection:
        if change == "ban":
            ban_name(connection, "alice")
        else:
            transfer_name(connection, "alice", "nostr:" + "9" * 64, now=NOW)
    table.play_to_end(A)
    found = table.find(A)
    assert (found.state, found.score, found.unpublished) == (MatchState.FINISHED, None, why)
    text = table.transcript(A)
    assert text is not None
    assert verify_transcript(text, {SECRET.pubkey}).ok


def test_a_key_that_was_revoked_meanwhile_publishes_nothing(table: Table) -> None:
    with table.database.writer.begin() as connection:
        key, _ = add_key(connection, "game", now=NOW)
    game = Principal(f"key:{key.id}", key.id, frozenset({PUBLISH_ANY}))
    table.open(A, game)
    table.open(B, game, "gentle")
    table.deal(A)
    table.deal(B)
    table.play_to_end(B)
    assert table.find(B).score is not None
    with table.database.writer.begin() as connection:
        revoke_key(connection, key.id, now=NOW)
    table.play_to_end(A)
    found = table.find(A)
    assert (found.state, found.score, found.unpublished) == (MatchState.FINISHED, None, "key-revoked")
    assert table.count(31250) == 1
    text = table.transcript(A)
    assert text is not None
    assert verify_transcript(text, {SECRET.pubkey}).ok


def test_transcripts_may_be_kept_from_the_relays(database: Database, clock: Clock) -> None:
    table = Table(database, clock, publishes=False)
    table.open(A)
    table.deal(A)
    table.play_to_end(A)
    assert table.transcript(A) is not None
    assert table.deliveries(30078) == 0
    assert table.deliveries(31250) == len(RELAYS)


def test_under_the_policy_best_like_is_compared_with_like(database: Database, clock: Clock) -> None:
    table = Table(database, clock, best=True)

    def standing() -> tuple[int, str | None]:
        with database.reader.begin() as connection:
            score = latest_score(connection, "alice")
        assert score is not None
        return score.score, score.proof and score.proof.level

    def claim(score: int) -> None:
        clock.now += 1
        with database.writer.begin() as connection:
            table.ledger.append(
                connection, [Request(request(ALICE, "Alice", score).claim, ALICE, frozenset())]
            )

    def prove(match_id: str, level: str) -> int:
        clock.now += 1
        table.open(match_id, level=level)
        table.deal(match_id)
        return table.play_to_end(match_id).points.player

    claim(120)
    first = prove("1" * 32, "sharp")  # proved beside claimed: it is another thing, and stands
    assert standing() == (first, "sharp")
    claim(120)  # a claim takes no proved score's place
    assert standing() == (first, "sharp")
    other = prove("2" * 32, "gentle")  # another level: the newer stands
    assert standing() == (other, "gentle")
    points = [prove(f"{number:032x}", "gentle") for number in range(3, 9)]
    assert standing() == (max(other, *points), "gentle")
    refused = [n for n, taken in enumerate(points, 3) if table.find(f"{n:032x}").score is None]
    assert refused
    for number in refused:
        assert table.find(f"{number:032x}").unpublished is Unpublished.NOT_IMPROVED
        assert table.transcript(f"{number:032x}") is not None


def test_no_text_of_a_match_shows_what_is_hidden(table: Table) -> None:
    table.open(A)
    table.deal(A)
    found = table.find(A)
    for text in (repr(found), str(found), repr(found.hand)):
        assert HIDDEN.server_seed.hex() not in text
        assert repr(HIDDEN.server_seed) not in text
        assert "t" * 64 not in text
