"""One relay's side of reading, without IO: what is asked, what arrives, and how far it has come.

A live subscription is opened first, then what is stored is read page by page: nothing falls between the two.
What comes is unchecked but for the filter: a relay may send anything.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Generic, NamedTuple, Protocol, TypeVar

import orjson

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
    from collections.abc import Callable, Iterable, Mapping, Sequence

PAGE_SECONDS = 10.0
"""How long a page may bring nothing new before it is given up."""

FRAME_LIMIT = 256 * 1024
"""Longer messages are ignored unread: no event of ours is that long."""

_LIVE = "live"


class Item(Protocol):
    """What a reader makes of an event."""

    @property
    def event_id(self) -> str:
        """The id that the event claims."""
        ...

    @property
    def created_at(self) -> int:
        """The time that the event claims."""
        ...


T = TypeVar("T", bound=Item)


class Received(NamedTuple):
    """An event as it came, unchecked."""

    event_id: str
    created_at: int
    text: bytes
    """Its JSON text."""


def as_received(text: bytes) -> Received | None:
    """Take any event, if it has an id and a time at all."""
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    place = _place(fields) if isinstance(fields, dict) else None
    return None if place is None else Received(*place, text)


class Arrived(NamedTuple, Generic[T]):
    """What messages brought that is news to a connection."""

    stored: list[T]
    live: list[T]
    """By the subscription that is followed; any copy may come, as often as the relay likes."""


class ReadSession(Generic[T]):
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
        read: Callable[[bytes], T | None],
        *,
        limit: int,
        live: Mapping[str, object] | None = None,
    ) -> None:
        """Read at most `limit` events for each of `filters` in turn; follow `live`, if given, from now on.

        `read` makes of an event's JSON text what is to come out; where it gives None nothing does, but the
        event still counts for the relay's pages.
        """
        self.outgoing: list[str] = []
        self.notice = self.refused = self.reason = ""
        self.ignored = 0
        self._backfills = deque(Backfill(wanted, limit=limit) for wanted in filters)
        self._read = read
        self._pages = 0
        self._page = ""
        self._head = b""  # what a message of the page begins with, as most relays write it
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

    def receive(self, frames: Iterable[bytes], now: float) -> Arrived[T]:
        """Take messages from the relay; returns the events that are news to this connection."""
        arrived = Arrived[T]([], [])
        for frame in frames:
            if len(frame) > FRAME_LIMIT:
                self.ignored += 1
            elif self._head and frame.startswith(self._head) and frame.endswith(b"]"):
                if (item := self._read(frame[len(self._head) : -1])) is None:
                    self._take(frame, now, arrived, useless=True)
                elif self._is_news(item.event_id, item.created_at, now):
                    arrived.stored.append(item)
            else:
                self._take(frame, now, arrived)
        return arrived

    def _take(self, frame: bytes, now: float, arrived: Arrived[T], *, useless: bool = False) -> None:
        """Take any message; an event in it that is known to be `useless` is not read again."""
        match parse_relay_message(frame):
            case EventMessage(subscription, fields) if self._is_ours(subscription):
                # The subscription is ours and has no braces, so these are the event's.
                item = None if useless else self._read(frame[frame.index(b"{") : frame.rindex(b"}") + 1])
                place = _place(fields)
                if place is None:
                    self.ignored += 1
                elif subscription == _LIVE:
                    if item is not None:
                        arrived.live.append(item)
                elif self._is_news(*place, now) and item is not None:
                    arrived.stored.append(item)
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

    def _is_news(self, event_id: str, created_at: int, now: float) -> bool:
        """Take note of an event of the current page; returns whether it is new."""
        backfill = self._backfills[0]
        if news := backfill.take(event_id, created_at):
            self._deadline = now + PAGE_SECONDS
        if backfill.request is None:
            self._turn(now)
        return news

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
            self._head = f'["EVENT","{self._page}",'.encode()
            self._deadline = now + PAGE_SECONDS
            self.outgoing.append(req_message(self._page, wanted))

    def _close_page(self) -> None:
        self.outgoing.append(close_message(self._page))
        self._page, self._head = "", b""

    def _on_closed(self, reason: str) -> None:
        if split_prefix(reason)[0] == "auth-required":
            reason = f"it serves only readers that authenticate, and a reader has no key ({reason})"
        self.refused = one_line(f"the relay refused: {reason}")
        self.give_up(self.refused)


def _place(fields: Mapping[str, object]) -> tuple[str, int] | None:
    """The id and the time of an event, which say where in a page it stands; None if one is missing."""
    event_id, created_at = fields.get("id"), fields.get("created_at")
    if type(event_id) is not str or type(created_at) is not int or not 0 <= created_at <= MAX_CREATED_AT:
        return None
    return event_id, created_at
