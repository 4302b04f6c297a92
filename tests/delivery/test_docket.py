from __future__ import annotations

from dataclasses import dataclass, field

from app.delivery.docket import UNPROVED_LIMIT, Docket
from app.delivery.judge import FORGED, NO_SCORE, Candidate, Finding
from app.scores.signed_score import SignedScore

GOOD = SignedScore("alice", 1, 1, "a", "{}")


@dataclass
class Relay:
    trusted: bool = True
    heard: list[Finding | None] = field(default_factory=list)

    def judged(self, finding: Finding | None) -> None:
        self.heard.append(finding)


def candidate(event_id: str) -> Candidate:
    return Candidate(event_id, 1, event_id, GOOD, b"")


class Setting:
    def __init__(self) -> None:
        self.known: set[str] = set()
        self.docket = Docket(lambda one: one.event_id not in self.known)
        self.one, self.two, self.three = Relay(), Relay(), Relay()


def test_in_the_order_of_arrival_and_no_more_than_asked_for() -> None:
    here = Setting()
    here.docket.add(here.one, map(candidate, "abc"))
    assert [one.event_id for _, one in here.docket.take(2)] == ["a", "b"]
    assert [one.event_id for _, one in here.docket.take(2)] == ["c"]
    assert here.docket.take(2) == []


def test_an_event_from_three_relays_is_judged_once() -> None:
    here = Setting()
    here.docket.add(here.one, [candidate("a")])
    here.docket.add(here.two, [candidate("a")])
    [case] = here.docket.take(9)
    here.docket.add(here.three, [candidate("a")])
    assert here.docket.take(9) == []
    here.known.add("a")
    here.docket.settled([case], [GOOD])
    assert here.docket.take(9) == []
    assert (here.one.heard, here.two.heard, here.three.heard) == ([GOOD], [None], [None])


def test_a_forged_copy_hides_no_good_one() -> None:
    here = Setting()
    for relay in (here.one, here.two, here.three):
        here.docket.add(relay, [candidate("a")])
    here.docket.add(here.one, [candidate("b")])
    case, other = here.docket.take(9)
    here.docket.settled([case, other], [FORGED, GOOD])
    [case] = here.docket.take(9)
    assert case[0] is here.two
    here.docket.settled([case], [FORGED])
    assert [source for source, _ in here.docket.take(9)] == [here.three]
    assert here.one.heard == [FORGED, GOOD]


def test_what_the_app_signed_and_is_no_score_is_judged_once_too() -> None:
    here = Setting()
    for number in range(UNPROVED_LIMIT + 1):
        here.docket.add(here.one, [candidate(str(number))])
        here.docket.settled(here.docket.take(1), [NO_SCORE])
    here.docket.add(here.one, [candidate(str(UNPROVED_LIMIT)), candidate("0")])
    assert [one.event_id for _, one in here.docket.take(9)] == ["0"], "memory is bounded"


def test_a_relay_that_is_not_trusted_any_more_is_not_looked_at() -> None:
    here = Setting()
    here.docket.add(here.one, map(candidate, "ab"))
    here.one.trusted = False
    assert here.docket.take(9) == []
    assert here.one.heard == [None, None]


def test_what_was_put_back_comes_first_again() -> None:
    here = Setting()
    here.docket.add(here.one, map(candidate, "abc"))
    cases = here.docket.take(2)
    here.docket.add(here.two, [candidate("a")])
    here.docket.take(9)
    here.docket.put_back(cases)
    assert [one.event_id for _, one in here.docket.take(9)] == ["a", "b"]
    assert len(here.docket) == 0
