"""Reading all that one relay stores for a filter, page by page, although relays cap their answers; pure.

NIP-01 has no cursor: the next page is asked for with `until` at the oldest second of the last one, so pages
overlap by that second. No relay says how many events it sends at most, so a page is known to be whole only if
it is smaller than another one of that relay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE_EVENTS = 5000
"""What is asked for in one page; relays clamp it, often to 500."""

LEAST_CAP = 100
"""Where nothing else tells, a smaller page is taken to be whole: hardly a relay sends so few at once.

A page before one that brings something new was not whole, which tells.
"""


class Backfill:
    """Pages one filter backwards in time.

    Attributes:
        request: The filter to ask the relay for now; None when there is nothing more to ask.
        reason: Why not everything may have come; empty if everything has, once `request` is None.
    """

    def __init__(self, wanted: Mapping[str, object], *, limit: int) -> None:
        """Page `wanted`, which may have its own `since` and `until`; at most `limit` events are read."""
        self.request: dict[str, object] | None = {**wanted, "limit": PAGE_EVENTS}
        self.reason = ""
        ids, since, until = wanted.get("ids"), wanted.get("since"), wanted.get("until")
        self._left = min(limit, len(ids)) if isinstance(ids, list) else limit
        self._all_asked_for = isinstance(ids, list) and len(ids) <= limit
        self._since = since if isinstance(since, int) else 0
        self._until = until if isinstance(until, int) else None
        self._page: dict[str, int] = {}  # created_at by id
        self._edge: set[str] = set()  # ids of the second `until` that earlier pages had
        self._largest = 0  # of the pages so far
        self._last = 0  # size of the page before
        self._cap = LEAST_CAP  # so many events, or fewer, are what the relay sends at once
        self._crowded = 0  # size of the last page, if it held nothing but what was known of one second
        self._previous: int | None = None
        self._unsorted = self._strayed = False

    def take(self, event_id: str, created_at: int) -> bool:
        """Take note of an event of the current page; returns whether it is new and of the time asked for."""
        if created_at < self._since or (self._until is not None and created_at > self._until):
            self._strayed = True
            return False
        if event_id in self._page:
            return False
        self._unsorted |= self._previous is not None and created_at > self._previous
        self._previous = created_at
        self._page[event_id] = created_at
        if event_id in self._edge:
            return False
        self._left -= 1
        if self._left <= 0:
            self._stop("" if self._all_asked_for else "the relay sends more events than are taken")
        return True

    def end_page(self) -> None:
        """The relay says that the page is all it has (EOSE): set the next `request`."""
        if self.request is None:
            return
        size, largest = len(self._page), self._largest
        self._largest = max(size, largest)
        new = self._page.keys() - self._edge
        if new and self._last:
            self._cap = min(self._cap, self._last)
        self._last = size
        if self._crowded and (size or self._crowded >= self._cap):  # what is older was cut off, or could be
            self._note("more events than the relay sends at once are, or may be, of one second")
        self._crowded = 0
        if self._unsorted and size >= max(largest, LEAST_CAP):
            self._note("the relay answers out of order, so what it left out cannot be told")
        if size == 0 or size > PAGE_EVENTS:  # nothing left, or no cap at all
            self._stop("the relay ignores the time that is asked for" if self._strayed and not size else "")
        elif new:
            self._go_on(min(self._page.values()))
        elif self._strayed:
            self._stop("the relay ignores the time that is asked for")
        elif size < largest:  # whole, so there is nothing older
            self._stop("")
        else:  # all of one second, all known: if there is more of that second it cannot be asked for
            self._crowded = size
            self._go_on(min(self._page.values()) - 1)

    def _go_on(self, until: int) -> None:
        if until < self._since:
            self._page.clear()
            self.end_page()  # the empty one that there would be
            return
        known = self._edge if until == self._until else set()
        self._edge = known | {event_id for event_id, at in self._page.items() if at == until}
        self._until = until
        self._page.clear()
        self._previous = None
        self._unsorted = self._strayed = False
        if self.request is not None:
            self.request = {**self.request, "until": until}

    def _note(self, reason: str) -> None:
        self.reason = self.reason or reason

    def _stop(self, reason: str) -> None:
        self._note(reason)
        self.request = None
        self._page.clear()
        self._edge.clear()
