"""Matches over HTTP: what each call answers, what it refuses, and that nothing hidden is in any answer."""

from __future__ import annotations

import asyncio
import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from app.briscola.cards import DECK
from app.matches.replay import verify_transcript
from app.store import rights
from app.web.match_answers import MatchDocument
from tests.clock import Clock
from tests.service import PUBKEY, assert_problem, running
from tests.web.hands import CLIENT_SEED, OTHER, PLAYER, Hand, signed, statement_of
from tests.web.identity_provider import Key, identity_provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.service import Running

TERMS = {"username": "alice", "level": "sharp", "variant": "two-player"}
NEW = TypeAdapter(MatchDocument)
CARD = re.compile(r"(?<![0-9A-Za-z])[BCDS](?:10|[1-9])(?![0-9A-Za-z])")


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[Running]:
    async with running(tmp_path, RATE_LIMIT="off", RATE_LIMIT_PER_ADDRESS="off") as service:
        yield service


async def test_a_match_is_committed_to_before_a_card_is_dealt(service: Running) -> None:
    hand = await Hand.open(service.http)
    match = hand.match
    NEW.validate_python(match)
    assert (match["state"], match["observation"], match["plays"]) == ("committed", None, [])
    assert match["player"] == PLAYER.pubkey
    event = match["commitment_event"]
    assert (event["kind"], event["pubkey"]) == (78, PUBKEY)
    assert event["tags"] == [
        ["d", match["id"]],
        ["commitment", match["commitment"]],
        ["variant", "two-player"],
        ["level", "sharp"],
        ["p", PLAYER.pubkey],
        ["username", "alice"],
    ]
    assert hand.answers[0].headers["location"].endswith(f"/v1/matches/{match['id']}")
    assert re.fullmatch("[0-9a-f]{64}", hand.token)
    assert not CARD.search(hand.answers[0].text)
    # It is on its way to the relay before anything is dealt.
    assert service.count("delivery") == 1
    assert "token" not in (await hand.call("GET")).json()


@pytest.mark.parametrize("level", ["gentle", "normal", "sharp", "master"])
async def test_a_whole_hand_is_published_and_replays(service: Running, level: str) -> None:
    hand = await Hand.open(service.http, level=level)
    assert (await hand.deal()).status_code == 200
    await hand.play_on()
    match = hand.match
    NEW.validate_python(match)
    assert (match["state"], match["next_ply"], match["expires_at"]) == ("finished", None, None)
    points = match["result"]["points"]
    assert points["player"] + points["computer"] == 120
    assert len(match["plays"]) == 40
    transcript = await service.http.get(f"/v1/matches/{match['id']}/transcript")
    verdict = verify_transcript(transcript.content, {PUBKEY})
    assert verdict.reasons == ()
    assert verdict.choices_checked
    assert verdict.score_event == match["result"]["score"]
    score = (await service.http.get(f"/v1/scores/{match['result']['score']}")).json()
    assert score["event"]["content"] == f'{{"v":1,"username":"alice","score":{points["player"]}}}'
    assert [tag[0] for tag in score["event"]["tags"]] == ["d", "app", "username", "score"]
    tally = {"dealt": 1, "finished": 1, "forfeited": 0}
    proof = {
        "match": match["id"],
        "level": level,
        "transcript": match["result"]["transcript"],
        "matches": tally,
    }
    assert score["proof"] == proof
    player = (await service.http.get("/v1/players/Alice")).json()
    assert (player["matches"], player["proof"]) == (tally, proof)


async def test_the_same_deal_again_gets_the_same_cards_and_another_seed_none(service: Running) -> None:
    hand = await Hand.open(service.http)
    first = await hand.deal()
    assert (await hand.deal()).json() == first.json()
    assert_problem(await hand.deal(bytes(32)), 409, "already-dealt")
    await hand.play()
    assert (await hand.deal()).json()["plays"] == hand.match["plays"]


async def test_a_play_is_made_once_for_each_ply(service: Running) -> None:
    hand = await Hand.open(service.http)
    await hand.deal()
    first, second, third = hand.match["observation"]["hand"]
    played = await hand.play(first, 1)
    assert (await hand.play(first, 1)).json() == played.json()
    problem = assert_problem(await hand.play(second, 1), 409, "wrong-ply")
    assert first in problem["detail"]
    assert_problem(await hand.play(third, 2), 409, "wrong-ply")
    assert_problem(await hand.play(second, 39), 409, "wrong-ply")
    assert len((await hand.call("GET")).json()["plays"]) == len(played.json()["plays"])


async def test_what_is_no_play(service: Running) -> None:
    hand = await Hand.open(service.http)
    assert_problem(await hand.play("B1", 1), 409, "not-dealt")
    await hand.deal()
    held = hand.match["observation"]["hand"]
    other = next(card for card in ("B1", "B2", "B3", "B4") if card not in held)
    assert_problem(await hand.play(other, 1), 422, "card-not-in-hand")
    for card in ("B11", "b1", "", "B1 ", "Z1"):
        problem = assert_problem(await hand.play(card or " ", 1), 422, "invalid-play")
        assert problem["errors"][0]["field"] == "card"
    for ply in (-1, 41, 10**30):
        assert_problem(await hand.play(held[0], ply), 422, "invalid-play")
    assert_problem(await hand.call("POST", "/plays", {"card": held[0]}), 422, "invalid-play")
    assert (await hand.call("GET")).json()["plays"] == []


async def test_two_plays_at_once_are_one(service: Running) -> None:
    hand = await Hand.open(service.http)
    await hand.deal()
    first, second, third = hand.match["observation"]["hand"]
    answers = await asyncio.gather(*(hand.play(card, 1) for card in (first, second, third)))
    assert sorted(answer.status_code for answer in answers) == [200, 409, 409]
    won = next(answer for answer in answers if answer.status_code == 200).json()
    assert (await hand.call("GET")).json() == won
    # The same one many times is the same one.
    card = won["observation"]["hand"][0]
    answers = await asyncio.gather(*(hand.play(card, won["next_ply"]) for _ in range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.text for answer in answers}) == 1


async def test_the_last_card_sent_many_times_at_once_makes_one_score(service: Running) -> None:
    hand = await Hand.open(service.http)
    await hand.deal()
    await hand.play_on(19)
    card, ply = hand.match["observation"]["hand"][0], hand.match["next_ply"]
    answers = await asyncio.gather(*(hand.play(card, ply) for _ in range(10)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["result"]["score"] for answer in answers}) == 1
    assert service.count() == 3  # commitment, score and transcript
    if ply == 39:  # the player led the last trick: the fortieth card is the computer's
        assert_problem(await hand.play(card, 40), 409, "wrong-ply")


async def test_who_may_play(service: Running) -> None:
    hand = await Hand.open(service.http)
    path, other = hand.path, await Hand.open(service.http, "bob", secret=OTHER)
    for call, body in (("", None), ("/deal", {}), ("/plays", {}), ("/resign", None)):
        method = "GET" if not call else "POST"
        assert_problem(await other.http.request(method, path + call, json=body), 403, "not-your-match")
        headers = {"Authorization": f"Bearer {other.token}"}
        answer = await other.http.request(method, path + call, json=body, headers=headers)
        assert_problem(answer, 403, "not-your-match")
        assert_problem(await signed(other.http, OTHER, method, path + call, body), 403, "not-your-match")
        headers = {"Authorization": "Bearer nothing"}
        answer = await other.http.request(method, path + call, json=body, headers=headers)
        assert_problem(answer, 401, "unauthenticated")
    # The token plays its match and can do nothing else; whoever opened it may sign each call instead.
    headers = {"Authorization": f"Bearer {hand.token}"}
    posted = await hand.http.post("/v1/scores", json={"username": "alice", "score": 1}, headers=headers)
    assert_problem(posted, 401, "unauthenticated")
    assert (await signed(hand.http, PLAYER, "GET", path)).json()["id"] == hand.match["id"]
    for name in ("0" * 32, "nothing", "%00"):
        assert_problem(await hand.http.get(f"/v1/matches/{name}", headers=headers), 404, "not-found")
        assert_problem(await hand.http.get(f"/v1/matches/{name}/transcript"), 404, "not-found")


async def test_who_may_open(service: Running) -> None:
    assert (
        await service.http.post("/v1/matches", json=TERMS)
    ).status_code == 403  # a key with nobody to sign
    keyed = await service.http.post("/v1/matches", json=TERMS | {"player": PLAYER.pubkey})
    assert keyed.status_code == 201
    other = TERMS | {"username": "bob", "player": OTHER.pubkey}
    assert_problem(await signed(service.http, PLAYER, "POST", "/v1/matches", other), 403, "forbidden")
    assert_problem(await signed(service.http, PLAYER, "POST", "/v1/matches", TERMS), 403, "name-taken")
    answer = await service.http.post("/v1/matches", json=TERMS, headers={"Authorization": "Bearer no"})
    assert_problem(answer, 401, "unauthenticated")


async def test_an_account_of_an_identity_provider_plays_with_a_key_of_its_own(tmp_path: Path) -> None:
    key = Key("k")
    async with identity_provider(key) as provider, running(tmp_path, **provider.settings()) as service:
        claims = provider.claims()
        service.http.headers["Authorization"] = f"Bearer {key.token(claims)}"
        assert_problem(await service.http.post("/v1/matches", json=TERMS), 403, "forbidden")
        keyed = TERMS | {"player": PLAYER.pubkey}
        other = await service.http.post("/v1/matches", json=keyed | {"username": "bob"})
        assert_problem(other, 403, "forbidden")
        opened = (await service.http.post("/v1/matches", json=keyed)).json()
        # The account may go on without the token of the match, too.
        assert (await service.http.get(f"/v1/matches/{opened['id']}")).json()["username"] == "alice"
        hand = Hand(service.http, opened, opened["token"])
        await hand.deal()
        await hand.play_on()
        assert hand.match["result"]["score"] is not None
        transcript = await service.http.get(f"{hand.path}/transcript")
        assert verify_transcript(transcript.content, {PUBKEY}).ok
        assert claims["sub"] not in transcript.text
        assert provider.issuer not in transcript.text


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"level": "hard"}, "level"),
        ({"variant": "chiamata"}, "variant"),
        ({"username": "a b"}, "username"),
        ({"player": "AB" * 32}, "player"),
        ({"player": "ab" * 31}, "player"),
        ({"seed": "0"}, "seed"),
    ],
)
async def test_terms_that_are_none(service: Running, change: dict[str, str], field: str) -> None:
    answer = await service.http.post("/v1/matches", json=TERMS | change)
    assert assert_problem(answer, 422, "invalid-match")["errors"][0]["field"] == field


async def test_an_unfinished_match_is_named(service: Running) -> None:
    hand = await Hand.open(service.http)
    problem = assert_problem(
        await signed(service.http, PLAYER, "POST", "/v1/matches", TERMS), 409, "match-unfinished"
    )
    assert problem["match"] == hand.match["id"]
    await hand.call("POST", "/resign")
    assert (await signed(service.http, PLAYER, "POST", "/v1/matches", TERMS)).status_code == 201


async def test_who_plays_none_to_its_end_is_told_when_to_come_again(
    service: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rights, "ABANDONED_LIMIT", 1)
    hand = await Hand.open(service.http)
    await hand.call("POST", "/resign")
    refused = await signed(service.http, PLAYER, "POST", "/v1/matches", TERMS)
    assert_problem(refused, 429, "matches-abandoned")
    assert 86_390 <= int(refused.headers["retry-after"]) <= 86_400
    assert (await service.post("bob", 72)).status_code == 201, "scores are posted all the same"


@pytest.mark.parametrize("signer", [PLAYER, OTHER])
async def test_a_statement_that_is_not_the_players(service: Running, signer: Any) -> None:
    hand = await Hand.open(service.http)
    seed = bytes(32) if signer is PLAYER else CLIENT_SEED  # another seed, or another key
    body = {"client_seed": CLIENT_SEED.hex(), "statement": statement_of(hand.match, signer, seed)}
    assert_problem(await hand.call("POST", "/deal", body), 403, "statement-refused")
    broken = body["statement"] | {"tags": "none"}
    assert_problem(await hand.call("POST", "/deal", body | {"statement": broken}), 422, "invalid-deal")
    assert_problem(await hand.call("POST", "/deal", body | {"client_seed": "00"}), 422, "invalid-deal")
    assert hand.match["observation"] is None


async def test_resigning_shows_the_seeds_and_counts(service: Running) -> None:
    hand = await Hand.open(service.http)
    await hand.deal()
    await hand.play()
    assert_problem(await service.http.get(f"{hand.path}/transcript"), 409, "no-transcript")
    resigned = await hand.call("POST", "/resign")
    result = resigned.json()["result"]
    assert (resigned.json()["state"], result["forfeit"], result["score"]) == ("forfeited", "resigned", None)
    assert (await hand.call("POST", "/resign")).json() == resigned.json()
    assert_problem(await hand.play("B1", 39), 409, "match-over")
    transcript = await service.http.get(f"{hand.path}/transcript")
    assert verify_transcript(transcript.content, {PUBKEY}).ok
    told = assert_problem(await service.http.get("/v1/players/Alice"), 404, "not-found")
    assert told["matches"] == {"dealt": 1, "finished": 0, "forfeited": 1}
    await service.post("carol", 1)
    assert (await service.http.get("/v1/players/carol")).json()["matches"]["forfeited"] == 0


async def test_what_expires_is_closed_when_somebody_looks_and_also_when_nobody_does(tmp_path: Path) -> None:
    clock = Clock(1_700_000_000.0)
    async with running(tmp_path, clock=clock, MATCH_EXPIRY="60") as service:
        body = {"username": "alice", "level": "sharp", "player": PLAYER.pubkey}
        first = (await service.http.post("/v1/matches", json=body)).json()
        assert first["expires_at"] == 1_700_000_060
        second = (await service.http.post("/v1/matches", json=body | {"level": "gentle"})).json()
        hand = Hand(service.http, first, first["token"])
        await hand.deal()
        clock.now += 61
        assert (await hand.call("GET")).json()["result"]["forfeit"] == "expired"
        await service.service.host.sweep_once()
        other = Hand(service.http, second, second["token"])
        assert (await other.call("GET")).json()["state"] == "lapsed"
        assert_problem(await other.deal(), 409, "match-over")


async def test_only_proved_scores_are_published_where_the_operator_says_so(tmp_path: Path) -> None:
    async with running(tmp_path, REQUIRE_PROOF="1") as service:
        claimed = {"username": "alice", "score": 120}
        assert_problem(
            await signed(service.http, PLAYER, "POST", "/v1/scores", claimed), 403, "proof-required"
        )
        assert (await service.post("bob", 72)).status_code == 201
        hand = await Hand.open(service.http)
        await hand.deal()
        await hand.play_on()
        assert hand.match["result"]["score"] is not None


async def test_the_token_is_not_limited_as_a_signed_call(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT="2/minute") as service:
        hand = await Hand.open(service.http)
        await hand.deal()
        await hand.play_on()
        assert hand.match["state"] == "finished"


async def test_an_entity_tag_is_of_what_the_player_sees_and_nothing_else(service: Running) -> None:
    hand = await Hand.open(service.http)
    await hand.deal()
    answer = await hand.call("GET")
    tag = answer.headers["etag"]
    assert tag == f'"{blake2b(answer.content, digest_size=12).hexdigest()}"'
    known = await hand.call("GET", **{"If-None-Match": tag})
    assert (known.status_code, known.content) == (304, b"")
    await hand.play()
    assert (await hand.call("GET", **{"If-None-Match": tag})).status_code == 200


async def test_two_processes_on_one_database_play_one_match(url: str) -> None:
    async with running(url) as one, running(url) as two:
        hand = await Hand.open(one.http)
        await hand.deal()
        while hand.match["next_ply"] is not None:
            hand.http = two.http if hand.http is one.http else one.http
            assert (await hand.play()).status_code == 200
        answers = await asyncio.gather(
            *(signed(s.http, PLAYER, "POST", "/v1/matches", TERMS) for s in (one, two))
        )
        assert sorted(answer.status_code for answer in answers) == [201, 409]
    async with running(url) as again:
        hand.http = again.http
        assert (await hand.call("GET")).json()["result"] == hand.match["result"]
        assert again.count() == 4  # two commitments, a score and a transcript


@settings(
    max_examples=5,
    phases=[Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    database=None,
)
@given(seed=st.binary(min_size=32, max_size=32), data=st.data())
async def test_nothing_hidden_is_in_an_answer_or_a_line_of_the_log(
    seed: bytes,
    data: st.DataObject,
    tmp_path_factory: pytest.TempPathFactory,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("DEBUG")
    caplog.clear()
    async with running(tmp_path_factory.mktemp("hidden"), RATE_LIMIT="off") as service:
        hand = await Hand.open(service.http)
        await hand.deal(seed)
        stored = await service.service.host.find(hand.match["id"])
        assert stored is not None
        secrets = [stored.secrets.server_seed.hex(), stored.secrets.salt.hex()]
        while hand.match["next_ply"] is not None:
            told = hand.match["observation"]
            seen = {
                *told["hand"],
                *told["table"],
                told["face_up"],
                *(card for _, card in hand.match["plays"]),
            }
            for answer in (hand.answers[-1], await hand.call("GET")):
                headers = " ".join(answer.headers.values())
                assert {*CARD.findall(answer.text), *CARD.findall(headers)} <= seen
                assert not any(secret in answer.text + headers for secret in secrets)
            other = next(str(card) for card in DECK if str(card) not in told["hand"])
            wrong = await hand.play(other)
            assert (wrong.status_code, {*CARD.findall(wrong.text)}) == (422, {other})
            await hand.play(data.draw(st.sampled_from(told["hand"])))
        assert not any(secret in caplog.text for secret in secrets)
        assert hand.token not in caplog.text
        assert not CARD.search(caplog.text)
        # Shown in the end.
        transcript = (await hand.call("GET", "/transcript")).text
        assert all(secret in transcript for secret in secrets)
