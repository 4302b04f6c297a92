"""Reading stored events from one relay, once (NIP-01 REQ)."""

import asyncio
from collections.abc import Mapping, Sequence

from app.delivery.answer import one_line
from app.delivery.connection import connect
from app.nostr.message import (
    Closed,
    Eose,
    EventMessage,
    Notice,
    close_message,
    parse_relay_message,
    req_message,
)

_SUBSCRIPTION = "read"


class FetchFailed(Exception):
    """The relay did not say all it has; the message says why."""


async def fetch(
    relay: str,
    filters: Sequence[Mapping[str, object]],
    *,
    timeout: float,  # noqa: ASYNC109 - the caller's own deadline, named in the error
    limit: int,
) -> list[dict[str, object]]:
    """The stored events that match any of the filters, in the relay's order, unchecked.

    At most `limit` events are read; a relay that sends more is cut off.

    Raises:
        ConnectError: No connection came about.
        FetchFailed: The relay refused, closed the connection, or did not finish within `timeout` seconds.
    """
    reader = _Reader(limit)
    try:
        async with asyncio.timeout(timeout):
            connection = await connect(relay, reader)
            try:
                connection.send([req_message(_SUBSCRIPTION, *filters)])
                await asyncio.wait([reader.done, connection.lost], return_when=asyncio.FIRST_COMPLETED)
                connection.send([close_message(_SUBSCRIPTION)])
            finally:
                connection.close()
                await connection.lost
    except TimeoutError:
        reason = f"no end of the stored events within {timeout:g} s"
    else:
        reason = reader.done.result() if reader.done.done() else connection.lost.result()
    if reason:
        raise FetchFailed(reason + (f"; the relay says: {reader.notice}" if reader.notice else ""))
    return reader.events


class _Reader:
    """Collects one subscription's events; `done` holds the reason for failing, or nothing."""

    def __init__(self, limit: int) -> None:
        self.events: list[dict[str, object]] = []
        self.notice = ""
        self.done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._limit = limit

    def received(self, messages: list[bytes]) -> None:
        for text in messages:
            if self.done.done():
                return
            match parse_relay_message(text):
                case EventMessage(subscription, event) if subscription == _SUBSCRIPTION:
                    self.events.append(event)
                    if len(self.events) == self._limit:
                        self.done.set_result("")
                case Eose(subscription) if subscription == _SUBSCRIPTION:
                    self.done.set_result("")
                case Closed(subscription, message) if subscription == _SUBSCRIPTION:
                    self.done.set_result(one_line(f"refused: {message}"))
                case Notice(message):
                    self.notice = one_line(message)

    def writable(self) -> None:
        """One request is all there is to write."""
