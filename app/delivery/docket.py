"""What waits to be judged: nothing twice, nothing that no longer matters; pure."""

from __future__ import annotations

from collections import OrderedDict, deque
from typing import TYPE_CHECKING, Protocol

from app.delivery.judge import NO_SCORE, Candidate, Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

UNPROVED_LIMIT = 4096
"""How many ids are remembered of events that the app signed and that do not count."""


class Source(Protocol):
    """Whoever sent candidates."""

    @property
    def trusted(self) -> bool:
        """Whether its candidates are still worth a look."""
        ...

    def judged(self, finding: Finding | None) -> None:
        """One of its candidates is done with; None if it needed no look."""
        ...


Case = tuple[Source, Candidate]
"""A candidate and who sent it."""


class Docket:
    """Cases in the order of their arrival.

    An event that several relays send is judged once; the next copy is looked at only if the first is forged,
    since an id alone proves nothing.
    """

    def __init__(self, matters: Callable[[Candidate], bool]) -> None:
        """`matters` tells whether a candidate would change anything now."""
        self._matters = matters
        self._waiting: deque[Case] = deque()
        self._judged: set[str] = set()  # ids of what is being judged now
        self._copies: dict[str, list[Case]] = {}  # of these, from other relays
        self._unproved: OrderedDict[str, None] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, source: Source, candidates: Iterable[Candidate]) -> None:
        """Put candidates at the end."""
        self._waiting.extend((source, candidate) for candidate in candidates)

    def take(self, limit: int) -> list[Case]:
        """Up to `limit` cases to judge; each has to be `settled`, or `put_back`."""
        cases: list[Case] = []
        while self._waiting and len(cases) < limit:
            case = source, candidate = self._waiting.popleft()
            event_id = candidate.event_id
            if event_id in self._judged:
                self._copies.setdefault(event_id, []).append(case)
            elif source.trusted and event_id not in self._unproved and self._matters(candidate):
                self._judged.add(event_id)
                cases.append(case)
            else:
                source.judged(None)
        return cases

    def settled(self, cases: Iterable[Case], findings: Iterable[Finding]) -> None:
        """Cases are judged, each as told, and whoever needs to know it knows."""
        for case, finding in zip(cases, findings, strict=True):
            source, candidate = case
            if finding == NO_SCORE:
                self._unproved[candidate.event_id] = None
                if len(self._unproved) > UNPROVED_LIMIT:
                    self._unproved.popitem(last=False)
            source.judged(finding)
            self._release(candidate.event_id)

    def put_back(self, cases: list[Case]) -> None:
        """Cases could not be judged: they come first again."""
        for case in reversed(cases):
            self._release(case[1].event_id)
            self._waiting.appendleft(case)

    def _release(self, event_id: str) -> None:
        """An event is not being judged any more: its copies are looked at next."""
        self._judged.discard(event_id)
        if copies := self._copies.pop(event_id, None):
            self._waiting.extendleft(reversed(copies))
