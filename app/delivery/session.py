"""One relay's side of the conversation, without IO: what was sent and which answer belongs to it.

A session outlives connections, so an OK that arrives on the next one still finds its event. Time comes in as
monotonic seconds. Text for the wire is returned by `send` or waits in `outgoing`.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from app.delivery.answer import one_line
from app.delivery.authentication import Authentication, NotAuthenticated, SignAuth
from app.delivery.model import Delivery
from app.delivery.question import Question
from app.nostr.event import Event
from app.nostr.message import (
    AuthChallenge,
    Closed,
    Eose,
    EventMessage,
    NotAMessage,
    Notice,
    Ok,
    close_message,
    event_message,
    parse_relay_message,
    split_prefix,
)

OK_DEADLINE_SECONDS = 10.0
FRAME_LIMIT = 256 * 1024
"""Longer messages are ignored unread: no relay has that much to say about one event of ours."""

LATE_LIMIT = 1024

ASK_AFTER_ATTEMPTS = 3
"""After so many attempts without a verdict the relay is first asked what it holds."""


class Reply(NamedTuple):
    """The relay's answer for one delivery.

    Attributes:
        late: Its deadline or its connection was over by then.
        asked: It was asked what it holds; `newest` is what it proved to hold in the event's place.
    """

    delivery: Delivery
    accepted: bool
    message: str
    late: bool
    asked: bool = False
    newest: Event | None = None


@dataclass(slots=True)
class _Sent:
    """A delivery that waits: for its OK, or for the answer to a question.

    `refusal` is what the relay said to the event itself, where that is the reason to ask.
    """

    delivery: Delivery
    deadline: float
    authenticated: bool
    question: Question | None = None
    refusal: str = ""


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
        self._auth = Authentication(relay, sign_auth)
        self._sent: OrderedDict[str, _Sent] = OrderedDict()  # by event id, earliest deadline first
        self._late: OrderedDict[str, Delivery] = OrderedDict()
        self._parked: dict[str, _Sent] = {}  # those of `_sent` that wait for authentication

    @property
    def auth_refused(self) -> str:
        """Why the relay cannot be authenticated to; empty if that was not tried, or is done."""
        return self._auth.refused

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
        if delivery.attempts >= ASK_AFTER_ATTEMPTS:
            return self.ask(delivery, "", now)
        self._wait_for(_Sent(delivery, now + OK_DEADLINE_SECONDS, self._auth.done))
        return event_message(delivery.payload)

    def ask(self, delivery: Delivery, refusal: str, now: float) -> str:
        """The message that asks what the relay holds, after it refused the event with these words, if any."""
        question = Question(delivery)
        self._wait_for(_Sent(delivery, now + OK_DEADLINE_SECONDS, self._auth.done, question, refusal))
        return question.message()

    def _wait_for(self, sent: _Sent) -> None:
        self._sent[sent.delivery.event_id] = sent

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
                    self._auth.challenged(challenge)
                case EventMessage(subscription, event) if subscription in self._sent:
                    self._on_event(self._sent[subscription], event, replies)
                case Eose(subscription) | Closed(subscription, _) if subscription in self._sent:
                    self._on_end(self._sent[subscription], now, replies)
                case _:
                    self.ignored += 1
        if self._parked and self._auth.is_due:
            self._authenticate(now, replies)
        return replies

    def expire(self, now: float, replies: list[Reply]) -> list[Delivery]:
        """Give up waiting for answers that are overdue; should they still come, they count as late.

        A question without an answer is over, too: the event is sent, or its refusal goes to `replies`.
        """
        overdue = []
        while self._sent:
            event_id, sent = next(iter(self._sent.items()))
            if sent.deadline > now:
                break
            if sent.question is not None:
                self._conclude(sent, sent.question, now, replies)
                continue
            del self._sent[event_id]
            if self._parked.pop(event_id, None):
                self._auth.give_up()
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
        self._auth.start_over()
        return waiting

    def _remember(self, deliveries: list[Delivery]) -> None:
        for delivery in deliveries[-LATE_LIMIT:]:
            self._late[delivery.event_id] = delivery
        while len(self._late) > LATE_LIMIT:
            self._late.popitem(last=False)

    def _on_ok(self, ok: Ok, now: float, replies: list[Reply]) -> None:
        sent = self._sent.get(ok.event_id)
        if sent is None:
            if self._auth.awaits(ok.event_id):
                self._on_auth_ok(ok, now, replies)
            elif ok.event_id in self._late and not _asks_for_authentication(ok):
                replies.append(Reply(self._late.pop(ok.event_id), ok.accepted, ok.message, late=True))
            else:
                self.ignored += 1
        elif sent.refusal and not ok.accepted:
            self.ignored += 1  # it has refused the event before, and was asked why
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
    # sent once more, and whatever the relay says then is final. A challenge is answered for a parked delivery
    # alone, and not too often: then the delivery is tried again later.

    def _park(self, sent: _Sent, now: float, replies: list[Reply]) -> None:
        if self._auth.done:  # meanwhile: it was sent before that was done
            sent.authenticated = True
            self._send_again(sent, now)
        elif self._auth.refused:
            self._answer(sent, False, self._auth.refused, replies)
        else:
            self._parked[sent.delivery.event_id] = sent

    def _authenticate(self, now: float, replies: list[Reply]) -> None:
        try:
            self.outgoing.append(self._auth.message(now))
        except NotAuthenticated as reason:
            self._refuse_parked(str(reason), replies)

    def _on_auth_ok(self, ok: Ok, now: float, replies: list[Reply]) -> None:
        if refusal := self._auth.take(ok):
            self._refuse_parked(refusal, replies)
            return
        for sent in self._parked.values():
            sent.authenticated = True
            self._send_again(sent, now)
        self._parked.clear()

    def _refuse_parked(self, message: str, replies: list[Reply]) -> None:
        for sent in list(self._parked.values()):
            self._answer(sent, False, message, replies)

    # What the relay holds: the same event settles the delivery, one that wins over it is not to be sent.

    def _on_event(self, sent: _Sent, event: dict[str, object], replies: list[Reply]) -> None:
        question = sent.question
        if question is None or not question.take(event):
            self.ignored += 1
        elif question.held:
            self.outgoing.append(close_message(sent.delivery.event_id))
            self._answer(sent, True, "read back: the relay holds it", replies)

    def _on_end(self, sent: _Sent, now: float, replies: list[Reply]) -> None:
        if sent.question is None:
            self.ignored += 1
        else:
            self._conclude(sent, sent.question, now, replies)

    def _conclude(self, sent: _Sent, question: Question, now: float, replies: list[Reply]) -> None:
        self.outgoing.append(close_message(sent.delivery.event_id))
        if question.newest is None and not sent.refusal:
            sent.question = None
            self._send_again(sent, now)
            return
        del self._sent[sent.delivery.event_id]
        words = sent.refusal or "replaced: the relay holds a newer event"
        replies.append(Reply(sent.delivery, False, words, late=False, asked=True, newest=question.newest))


def _asks_for_authentication(ok: Ok) -> bool:
    return not ok.accepted and split_prefix(ok.message)[0] == "auth-required"
