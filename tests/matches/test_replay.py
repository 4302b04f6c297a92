"""What a replay finds: nothing in an honest transcript, and every tampering with one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.cards import Card
from app.matches.commitment import Secrets, commitment
from app.matches.match import Match, Ply, Points, Side
from app.matches.opening import sign_commitment
from app.matches.replay import verify_transcript
from app.matches.transcript import Forfeit
from app.nostr import nip19
from app.nostr.event import sign_event
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score
from tests.matches.changes import at, leaves, others, put
from tests.matches.made import APP, NOW, PLAYER, made
from tests.matches.reference import canonical
from tests.vectors import load

VECTORS = load("match.json")
MADE = made("sharp")
STRANGER = SecretKey.parse(f"{7:064x}")
EVENT = MADE.event.to_dict()
CONTENT = json.loads(EVENT["content"])
EVENT_LEAVES = list(leaves(EVENT))
CONTENT_LEAVES = list(leaves(CONTENT))


def reasons(event, keys=APP.pubkey, **options):
    verdict = verify_transcript(event.to_json() if hasattr(event, "to_json") else event, keys, **options)
    assert verdict.ok is (verdict.reasons == ())
    if not verdict.ok:
        assert (verdict.terms, verdict.points, verdict.score_event, verdict.proved) == (None, None, None, ())
    return verdict.reasons


@pytest.mark.parametrize("case", VECTORS["matches"], ids=lambda case: f"{case['level']}-{case['match'][:6]}")
def test_every_vector(case):
    verdict = verify_transcript(json.dumps(case["event"]), VECTORS["app_pubkey"])
    assert verdict.reasons == ()
    assert verdict.id == case["event"]["id"]
    assert (verdict.terms.match, verdict.terms.username) == (case["match"], case["username"])
    assert (list(verdict.points), verdict.forfeit) == (case["points"], case["forfeit"])
    assert verdict.score_event == case["score_event"]
    assert verdict.choices_checked is True


def test_what_is_proved_and_what_is_not():
    whole = verify_transcript(EVENT, APP.pubkey)
    assert any("exactly what level sharp plays" in sentence for sentence in whole.proved)
    assert any("score event publishes" in sentence for sentence in whole.proved)
    for never in ("work together", "a person chose", "thrown away"):
        assert any(never in sentence for sentence in whole.not_proved)
    resigned = verify_transcript(made("sharp", plies=9).event.to_json(), APP.pubkey)
    assert (resigned.ok, resigned.forfeit, resigned.score_event) == (True, "resigned", None)
    assert any("service's word" in sentence for sentence in resigned.not_proved)
    assert not any("score event" in sentence for sentence in resigned.proved)
    assert len(whole.to_dict()) == len(resigned.to_dict()) == 14
    assert json.loads(json.dumps(resigned.to_dict()))["points"]["player"] == resigned.points.player


def test_the_key_in_any_spelling_and_several():
    for keys in (nip19.encode("npub", bytes.fromhex(APP.pubkey)), {STRANGER.pubkey, APP.pubkey}):
        assert reasons(EVENT, keys) == ()
    found = reasons(EVENT, STRANGER.pubkey)
    assert found == tuple(
        f"the {name} is signed by {APP.pubkey}, who may not sign it"
        for name in ("transcript", "commitment event", "score event")
    )
    with pytest.raises(ValueError, match="public key"):
        verify_transcript(EVENT, "none")


def test_a_key_that_was_rotated_in_between():
    newer = sign_score(STRANGER, username="alice", score=MADE.transcript.points.player, created_at=NOW)
    event = MADE.changed(score_event=newer)
    assert reasons(event, {APP.pubkey, STRANGER.pubkey}) == ()
    assert reasons(event) != ()


@settings(max_examples=300)
@given(st.data())
def test_no_field_of_the_event_can_be_changed(data):
    path = data.draw(st.sampled_from(EVENT_LEAVES))
    assert reasons(json.dumps(put(EVENT, path, data.draw(others(at(EVENT, path)))))) != ()


@settings(max_examples=400)
@given(st.data())
def test_no_field_of_the_content_can_be_changed_by_a_reader(data):
    path = data.draw(st.sampled_from(CONTENT_LEAVES))
    content = put(CONTENT, path, data.draw(others(at(CONTENT, path))))
    assert reasons(json.dumps({**EVENT, "content": canonical(content)})) != ()


@settings(max_examples=600)
@given(st.data())
def test_nor_by_the_service_itself(data):
    """Signed again by the app: what is left to find it is the rest of the transcript."""
    path = data.draw(st.sampled_from(CONTENT_LEAVES))
    content = put(CONTENT, path, data.draw(others(at(CONTENT, path))))
    tags = EVENT["tags"]
    if isinstance(content["score_event"], dict) and isinstance(content["score_event"]["id"], str):
        tags = [["d", str(content["match"])], ["e", content["score_event"]["id"]]]
    signed = sign_event(APP, created_at=NOW, kind=30078, tags=tags, content=canonical(content))
    assert reasons(signed) != ()


@pytest.mark.parametrize("path", CONTENT_LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_each_field_once(path):
    old = at(CONTENT, path)
    new = {"player": "computer", "computer": "player", None: "resigned"}.get(old)
    if new is None:
        new = old + 1 if isinstance(old, int) else ("f" if old[:1] != "f" else "e") + old[1:]
    content = canonical(put(CONTENT, path, new))
    assert reasons({**EVENT, "content": content}) != ()
    signed = sign_event(APP, created_at=NOW, kind=30078, tags=EVENT["tags"], content=content)
    assert reasons(signed) != ()


def test_the_first_false_ply_is_named():
    plays = MADE.transcript.plays
    for number in (1, 2, 17, 40):
        at_ply = plays[number - 1]
        other = Ply(Side.COMPUTER if at_ply.side is Side.PLAYER else Side.PLAYER, at_ply.card)
        event = MADE.changed(plays=(*plays[: number - 1], other, *plays[number:]))
        verdict = verify_transcript(event.to_json(), APP.pubkey)
        assert verdict.false_ply == number
        assert verdict.reasons == (f"ply {number} is the {at_ply.side}'s, not the {other.side}'s",)


def test_a_card_that_is_not_in_the_hand():
    plays = list(MADE.transcript.plays)
    number = next(n for n in range(3, 41) if plays[n - 1].side is Side.PLAYER)
    plays[number - 1] = plays[0]
    verdict = verify_transcript(MADE.changed(plays=tuple(plays)).to_json(), APP.pubkey)
    assert verdict.false_ply == number
    assert verdict.reasons == (
        f"ply {number} breaks the rules: {plays[0].card} is not in the hand of seat 0",
    )


def test_a_choice_of_the_computer_that_is_another_levels():
    """The hand goes on from a legal card that sharp does not play: only that one choice is false."""
    transcript = MADE.transcript
    match = Match.deal(transcript.terms, transcript.secrets.server_seed, transcript.client_seed)
    number = 0
    while not match.is_over:
        if match.to_move is Side.PLAYER:
            card = match.observation.hand[0]
        else:
            card = match.choice()
            if not number and len(match.state.hands[1]) > 1:
                number = match.next_ply
                right, card = card, next(c for c in match.state.hands[1] if c is not card)
        match = match.after(card)
    score = sign_score(APP, username="alice", score=match.points.player, created_at=NOW)
    event = MADE.changed(plays=match.plays, points=match.points, score_event=score)
    wrong = match.plays[number - 1].card
    verdict = verify_transcript(event.to_json(), APP.pubkey)
    assert verdict.false_ply == number == 2
    assert verdict.reasons == (f"ply 2 is {wrong}, but level sharp plays {right} here",)


def test_seeds_that_were_not_committed_to():
    other = Secrets(b"\7" * 32, MADE.transcript.secrets.salt)
    found = reasons(MADE.changed(secrets=other))
    assert "the commitment is not the hash of match, player, level, server seed and salt" in found
    committed = commitment(MADE.transcript.terms, other)
    found = reasons(MADE.changed(secrets=other, commitment=committed))
    assert [reason.partition(" is not ")[0] for reason in found][:2] == [
        "the commitment event's tag 2",
        "the statement's tag 3",
    ]
    # A commitment made afterwards is not the one that the player answered to.
    late = sign_commitment(APP, terms=MADE.transcript.terms, commitment=committed, created_at=NOW)
    found = reasons(MADE.changed(secrets=other, commitment=committed, commitment_event=late))
    assert any(reason.startswith("the statement's tag 2 is not e with") for reason in found)


def test_a_score_that_is_not_the_hands():
    points, name = MADE.transcript.points.player, "alice"
    cases = [
        (
            sign_score(APP, username=name, score=points + 1, created_at=NOW),
            f"tag 4 is not score with the value '{points}'",
        ),
        (
            sign_score(APP, username="Alice", score=points, created_at=NOW),
            "tag 3 is not username with the value 'alice'",
        ),
        (sign_score(PLAYER, username=name, score=points, created_at=NOW), "who may not sign it"),
    ]
    for score, message in cases:
        (reason,) = reasons(MADE.changed(score_event=score))
        assert message in reason


def test_points_and_forfeits():
    took = MADE.transcript.points
    swapped = reasons(MADE.changed(points=Points(took.computer, took.player)))
    assert f"the points are {took.player} and {took.computer}, not as the transcript has them" in swapped
    given_up = reasons(MADE.changed(forfeit=Forfeit.EXPIRED))
    assert given_up[0].endswith("and 40 of 40 plies are made")
    assert given_up[1] == "a forfeited hand has no score event"
    short = made("sharp", plies=12)
    (reason,) = reasons(short.changed(forfeit=None))
    assert reason.endswith("and 12 of 40 plies are made")


def test_tags_are_those_of_the_transcript():
    for tags in ([], EVENT["tags"][:1], EVENT["tags"][::-1], [*EVENT["tags"], ["t", "x"]]):
        signed = sign_event(APP, created_at=NOW, kind=30078, tags=tags, content=EVENT["content"])
        (reason,) = reasons(signed)
        assert reason.startswith(("the transcript has", "the transcript's tag 1 is not d"))


def test_master_is_checked_only_where_that_is_wanted():
    master = made("master", plies=4)
    assert reasons(master.event) == ()
    quick = verify_transcript(master.event.to_json(), APP.pubkey, master=False)
    assert (quick.ok, quick.choices_checked) == (True, False)
    assert quick.not_proved[0] == "that the computer plays like level master: its choices were not checked"
    assert not any("level master" in sentence for sentence in quick.proved)
    plays = master.transcript.plays
    number = next(n for n, ply in enumerate(plays, 1) if ply.side is Side.COMPUTER)
    before = Match.deal(
        master.transcript.terms, b"\1" * 32, b"\3" * 32, [ply.card for ply in plays[: number - 1]]
    )
    other = next(card for card in before.state.hands[1] if card is not plays[number - 1].card)
    event = replace(master.transcript, plays=(*plays[: number - 1], Ply(Side.COMPUTER, other)))
    event = replace(event, points=before.after(other).points)
    signed = sign_event(APP, created_at=NOW, kind=30078, tags=event.tags, content=event.canonical())
    assert reasons(signed, master=False) == ()
    (reason,) = reasons(signed)
    assert reason == f"ply {number} is {other}, but level master plays {plays[number - 1].card} here"


@given(st.one_of(st.text(), st.binary(), st.none(), st.dictionaries(st.text(), st.integers())))
def test_nothing_that_is_read_raises_anything(source):
    assert reasons(source) != ()


def test_plays_after_the_end():
    short = made("gentle", plies=39)
    plays = short.transcript.plays
    assert len(plays) == 39
    assert reasons(short.event) == ()
    event = short.changed(plays=(*plays, Ply(plays[-1].side, Card.B1)))
    verdict = verify_transcript(event.to_json(), APP.pubkey)
    assert verdict.false_ply == 40
