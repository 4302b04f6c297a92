"""One relay's side of the conversation, without IO: what was sent and which answer belongs to it.

A session outlives connections, so an OK that arrives on the next one still finds its event. Time comes in as
monotonic seconds. Text for the wire is returned by `send` or waits in `outgoing`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import orjson

from app.delivery.answer import RETRY_PREFIXES, one_line
from app.delivery.model import Delivery
from app.nostr.message import (
    AuthChallenge,
    Closed,
    Eose,
    EventMessage,
    NotAMessage,
    Notice,
    Ok,
    auth_message,
    close_message,
    event_message,
    parse_relay_message,
    req_message,
    split_prefix,
)

OK_DEADLINE_SECONDS = 10.0
FRAME_LIMIT = 256 * 1024
"""Longer messages are ignored unread: no relay has that much to say about one event of ours."""

LATE_LIMIT = 1024
ASK_AFTER_ATTEMPTS = 3
"""After so many attempts without a verdict the relay is first asked what it holds."""

SignAuth = Callable[[str, str], str | None]
"""Makes the signed NIP-42 event (JSON text) for a relay URL and a challenge, or None to refuse."""


class Reply(NamedTuple):
    """The relay's answer for one delivery; `late` if its deadline or its connection was over by then."""

    delivery: Delivery
    accepted: bool
    message: str
    late: bool


@dataclass(slots=True)
class _Sent:
    delivery: Delivery
    deadline: float
    authenticated: bool
    newest: int = 0


class Session:
    """Matches a relay's messages to the deliveries sent to it.

    Attributes:
        outgoing: Messages to be sent besides those that `send` returns.
        notice: The relay's last NOTICE, bounded and on one line.
        ignored: How many messages meant nothing here.
    """

    def __init__(self, relay: str, sign_auth: SignAuth) -> None:
        self.outgoing: list[str] = []
        self.notice = ""
        self.ignored = 0
        self._relay = relay
        self._sign_auth = sign_auth
        self._sent: OrderedDict[str, _Sent] = OrderedDict()  # by event id, earliest deadline first
        self._late: OrderedDict[str, Delivery] = OrderedDict()
        self._parked: dict[str, _Sent] = {}  # those of `_sent` that wait for authentication
        self._auth_id: str | None = None  # of the AUTH event that waits for its OK
        self._start_over(None)

    @property
    def in_flight(self) -> int:
        """How many deliveries wait for an answer."""
        return len(self._sent)

    @property
    def next_deadline(self) -> float | None:
        """When the next delivery will have waited too long."""
        return next(iter(self._sent.values())).deadline if self._sent else None

    def __iter__(self) -> Iterator[Delivery]:
        """The deliveries that wait for an answer."""
        return (sent.delivery for sent in self._sent.values())

    def holds(self, event_id: str) -> bool:
        """Whether this event waits for an answer."""
        return event_id in self._sent

    def send(self, delivery: Delivery, now: float) -> str:
        """The message to send for a delivery, which waits for its answer from now on.

        A delivery that got no verdict several times starts with a question: what is held at its address?
        """
        event_id = delivery.event_id
        self._sent[event_id] = _Sent(delivery, now + OK_DEADLINE_SECONDS, self._authenticated)
        if delivery.attempts >= ASK_AFTER_ATTEMPTS:
            return req_message(event_id, *_held_at(delivery))
        return event_message(delivery.payload)

    def receive(self, frames: Iterable[str | bytes | bytearray], now: float) -> list[Reply]:
        """Take messages from the relay; returns the answers among them that belong to deliveries."""
        replies: list[Reply] = []
        for frame in frames:
            message = NotAMessage("too long") if len(frame) > FRAME_LIMIT else parse_relay_message(frame)
            match message:
                case Ok():
                    self._on_ok(message, now, replies)
                case Notice(text):
                    self.notice = one_line(text)
                case AuthChallenge(challenge):
                    self._start_over(challenge)
                case EventMessage(subscription, event) if subscription in self._sent:
                    self._on_event(self._sent[subscription], event, replies)
                case Eose(subscription) | Closed(subscription, _) if subscription in self._sent:
                    self._on_end(self._sent[subscription], message, now, replies)
                case _:
                    self.ignored += 1
        if self._parked and self._auth_id is None and self._challenge is not None:
            self._send_auth(self._challenge, replies)
        return replies

    def expire(self, now: float) -> list[Delivery]:
        """Give up waiting for answers that are overdue; should they still come, they count as late."""
        overdue = []
        while self._sent:
            event_id, sent = next(iter(self._sent.items()))
            if sent.deadline > now:
                break
            del self._sent[event_id]
            if self._parked.pop(event_id, None):
                self._auth_id = None
            overdue.append(sent.delivery)
        self._remember(overdue)
        return overdue

    def lost(self) -> list[Delivery]:
        """Forget the connection; returns the deliveries that were waiting on it."""
        waiting = [sent.delivery for sent in self._sent.values()]
        self._sent.clear()
        self._parked.clear()
        self._remember(waiting)
        self.outgoing.clear()
        self._start_over(None)
        return waiting

    def _remember(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries[-LATE_LIMIT:]:
            self._late[delivery.event_id] = delivery
        while len(self._late) > LATE_LIMIT:
            self._late.popitem(last=False)

    def _on_ok(self, ok: Ok, now: float, replies: list[Reply]) -> None:
        sent = self._sent.get(ok.event_id)
        if sent is None:
            if ok.event_id == self._auth_id:
                self._on_auth_ok(ok, now, replies)
            elif ok.event_id in self._late and not _asks_for_authentication(ok):
                replies.append(Reply(self._late.pop(ok.event_id), ok.accepted, ok.message, late=True))
            else:
                self.ignored += 1
        elif not sent.authenticated and _asks_for_authentication(ok):
            self._park(sent, now, replies)
        else:
            self._answer(sent, ok.accepted, ok.message, replies)

    def _answer(self, sent: _Sent, accepted: bool, message: str, replies: list[Reply]) -> None:
        del self._sent[sent.delivery.event_id]
        self._parked.pop(sent.delivery.event_id, None)
        replies.append(Reply(sent.delivery, accepted, message, late=False))

    def _send_again(self, sent: _Sent, now: float) -> None:
        sent.deadline = now + OK_DEADLINE_SECONDS
        self._sent.move_to_end(sent.delivery.event_id)
        self.outgoing.append(event_message(sent.delivery.payload))

    # NIP-42: a delivery refused for want of authentication is parked until the newest challenge is answered,
    # sent once more, and whatever the relay says then is final.

    def _start_over(self, challenge: str | None) -> None:
        """Forget how far authentication has come: there is a new challenge, or a new connection and none."""
        self._challenge = challenge
        self._auth_id = None
        self._authenticated = False
        self._auth_refused = ""

    def _park(self, sent: _Sent, now: float, replies: list[Reply]) -> None:
        if self._authenticated:  # meanwhile: it was sent before that was done
            sent.authenticated = True
            self._send_again(sent, now)
        elif self._auth_refused:
            self._answer(sent, False, self._auth_refused, replies)
        else:
            self._parked[sent.delivery.event_id] = sent

    def _send_auth(self, challenge: str, replies: list[Reply]) -> None:
        event = self._sign_auth(self._relay, challenge)
        if event is None:
            self._auth_refused = "auth-required: no key to authenticate with"
            self._refuse_parked(self._auth_refused, replies)
            return
        self._auth_id = orjson.loads(event)["id"]
        self.outgoing.append(auth_message(event))

    def _on_auth_ok(self, ok: Ok, now: float, replies: list[Reply]) -> None:
        self._auth_id = None
        if ok.accepted:
            self._authenticated = True
            for sent in self._parked.values():
                sent.authenticated = True
                self._send_again(sent, now)
            self._parked.clear()
        elif split_prefix(ok.message)[0] in RETRY_PREFIXES:
            self._refuse_parked(ok.message, replies)
        else:
            self._auth_refused = f"auth-required: authentication refused: {ok.message}"
            self._refuse_parked(self._auth_refused, replies)

    def _refuse_parked(self, message: str, replies: list[Reply]) -> None:
        for sent in list(self._parked.values()):
            self._answer(sent, False, message, replies)

    # What the relay holds: the same event settles the delivery, a newer one is a reason not to send.

    def _on_event(self, sent: _Sent, event: dict[str, object], replies: list[Reply]) -> None:
        if event.get("id") == sent.delivery.event_id:
            self.outgoing.append(close_message(sent.delivery.event_id))
            self._answer(sent, True, "held by the relay", replies)
        elif _address(event) == sent.delivery.address and isinstance(event["created_at"], int):
            sent.newest = max(sent.newest, event["created_at"])
        else:
            self.ignored += 1

    def _on_end(self, sent: _Sent, end: Eose | Closed, now: float, replies: list[Reply]) -> None:
        if isinstance(end, Eose):
            self.outgoing.append(close_message(sent.delivery.event_id))
        if sent.newest > sent.delivery.created_at:
            self._answer(sent, False, "replaced: the relay holds a newer event", replies)
        else:
            self._send_again(sent, now)


def _asks_for_authentication(ok: Ok) -> bool:
    return not ok.accepted and split_prefix(ok.message)[0] == "auth-required"


def _held_at(delivery: Delivery) -> tuple[dict[str, object], dict[str, object]]:
    """Filters for the event itself and for the newest at its address."""
    kind, author, d = delivery.address.split(":", 2)
    newest = {"kinds": [int(kind)], "authors": [author], "#d": [d], "limit": 1}
    return {"ids": [delivery.event_id], "limit": 1}, newest


def _address(event: dict[str, object]) -> str | None:
    """The event's address if it has the shape of an addressable event."""
    match event:
        case {"kind": int(kind), "pubkey": str(author), "tags": [*tags], "created_at": int()}:
            found = (tag[1] for tag in tags if isinstance(tag, list) and len(tag) > 1 and tag[0] == "d")
            d = next(found, "")
            return f"{kind}:{author}:{d}" if isinstance(d, str) else None
        case _:
            return None
