"""One relay's side of reading, without IO: what is asked, what arrives, and how far it has come.

A live subscription is opened first, then what is stored is read page by page: nothing falls between the two.
What comes is unchecked but for the filter: a relay may send anything.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from app.delivery.answer import one_line
from app.delivery.backfill import Backfill
from app.nostr.event import MAX_CREATED_AT
from app.nostr.message import (
    AuthChallenge,
    Closed,
    Eose,
    EventMessage,
    Notice,
    close_message,
    parse_relay_message,
    req_message,
    split_prefix,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PAGE_SECONDS = 10.0
"""How long a page may bring nothing new before it is given up."""

FRAME_LIMIT = 256 * 1024
"""Longer messages are ignored unread: no event of ours is that long."""

_LIVE = "live"


# An event as nearly every relay writes it, at a third of what parsing costs; whatever else is wrong with its
# text is for its judge to find.
_USUAL = re.compile(
    rb'\["EVENT","(\w{1,16})",(\{"id":"([0-9a-f]{64})","pubkey":"[0-9a-f]{64}","created_at":([0-9]{1,15}),.*\})\]',
    re.DOTALL,
)


class Received(NamedTuple):
    """An event as it came, unchecked: even its text may turn out to be no JSON."""

    event_id: str
    created_at: int
    text: bytes
    """Its JSON text."""
    live: bool = False
    """Whether it came by the subscription that is followed; any copy may, as often as the relay likes."""


class ReadSession:
    """Reads what one connection has for some filters, and follows one of them.

    Attributes:
        outgoing: Messages to be sent.
        notice: The relay's last NOTICE, bounded and on one line.
        refused: Why the relay will not be read from, bounded and on one line; empty as long as it is.
        reason: Why not everything stored may have come; empty if it has, once `reading` is false.
        ignored: How many messages meant nothing here.
    """

    def __init__(
        self,
        filters: Sequence[Mapping[str, object]],
        *,
        limit: int,
        live: Mapping[str, object] | None = None,
    ) -> None:
        """Read at most `limit` events for each of `filters` in turn; follow `live`, if given, from now on."""
        self.outgoing: list[str] = []
        self.notice = self.refused = self.reason = ""
        self.ignored = 0
        self._backfills = deque(Backfill(wanted, limit=limit) for wanted in filters)
        self._pages = 0
        self._page = ""
        self._deadline = 0.0
        self._follows = live is not None
        if live is not None:
            # Whatever is stored comes page by page; a limit of 0 is a fault to some relays.
            self.outgoing.append(req_message(_LIVE, {**live, "limit": 1}))

    @property
    def reading(self) -> bool:
        """Whether stored events are still to come."""
        return bool(self._backfills)

    @property
    def deadline(self) -> float | None:
        """When the page that is being read is given up."""
        return self._deadline if self._backfills else None

    def open(self, now: float) -> None:
        """The connection is there at `now`, in monotonic seconds."""
        self._ask(now)

    def receive(self, frames: Iterable[bytes], now: float) -> list[Received]:
        """Take messages from the relay; returns the events that are news to this connection."""
        events: list[Received] = []
        for frame in frames:
            if len(frame) > FRAME_LIMIT:
                self.ignored += 1
                continue
            if usual := _USUAL.fullmatch(frame):
                name, text, event_id, created_at = usual.groups()
                self._take(name.decode(), Received(event_id.decode(), int(created_at), text), now, events)
                continue
            match parse_relay_message(frame):
                case EventMessage(subscription, fields):
                    self._take(subscription, _received(fields, frame), now, events)
                case Eose(subscription) if subscription == self._page and self._backfills:
                    self._backfills[0].end_page()
                    self._turn(now)
                case Closed(subscription, reason) if self._is_ours(subscription):
                    self._on_closed(reason)
                case Notice(text):
                    self.notice = one_line(text)
                case AuthChallenge():
                    pass  # whoever does not insist on authentication is read without it
                case Eose(subscription) if subscription == _LIVE:
                    pass
                case _:
                    self.ignored += 1
        return events

    def expire(self, now: float) -> bool:
        """Give up a page that is overdue, and with it all that is stored; returns whether it was."""
        overdue = bool(self._backfills) and now >= self._deadline
        if overdue:
            self.give_up(f"no end of the stored events within {PAGE_SECONDS:g} s")
        return overdue

    def give_up(self, reason: str) -> None:
        """Nothing more that is stored will come, for this reason."""
        if self._backfills:
            said = f"; the relay says: {self.notice}" if self.notice else ""
            self.reason = self.reason or reason + said
            self._backfills.clear()
            self._close_page()

    def _is_ours(self, subscription: str) -> bool:
        return (subscription == _LIVE and self._follows) or (
            bool(self._backfills) and subscription == self._page
        )

    def _take(self, subscription: str, event: Received | None, now: float, events: list[Received]) -> None:
        if event is None:
            self.ignored += 1
        elif self._backfills and subscription == self._page:
            if self._backfills[0].take(event.event_id, event.created_at):
                self._deadline = now + PAGE_SECONDS
                events.append(event)
            if self._backfills[0].request is None:
                self._turn(now)
        elif self._follows and subscription == _LIVE:
            events.append(event._replace(live=True))
        else:
            self.ignored += 1

    def _turn(self, now: float) -> None:
        """A page is over: ask for the next one, of this filter or of the next."""
        self._close_page()
        if self._backfills[0].request is None:
            read = self._backfills.popleft()
            self.reason = self.reason or read.reason
        self._ask(now)

    def _ask(self, now: float) -> None:
        if self._backfills and (wanted := self._backfills[0].request) is not None:
            self._pages += 1
            self._page = f"page{self._pages}"
            self._deadline = now + PAGE_SECONDS
            self.outgoing.append(req_message(self._page, wanted))

    def _close_page(self) -> None:
        self.outgoing.append(close_message(self._page))
        self._page = ""

    def _on_closed(self, reason: str) -> None:
        if split_prefix(reason)[0] == "auth-required":
            reason = f"it serves only readers that authenticate, and a reader has no key ({reason})"
        self.refused = one_line(f"the relay refused: {reason}")
        self.give_up(self.refused)


def _received(fields: dict[str, object], frame: bytes) -> Received | None:
    """The event of a message, if it has an id and a time at all."""
    event_id, created_at = fields.get("id"), fields.get("created_at")
    if type(event_id) is not str or type(created_at) is not int or not 0 <= created_at <= MAX_CREATED_AT:
        return None
    # The subscription is ours and has no braces, so these are the event's.
    return Received(event_id, created_at, frame[frame.index(b"{") : frame.rindex(b"}") + 1])
