"""What an operator sees of deliveries, and does about those that rest: `outbox list` and `outbox retry`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, exists, select, true, update

from app.delivery.backoff import CAP_SECONDS
from app.delivery.model import GIVE_UP_SECONDS, DeliveryState
from app.nostr.relay_url import public_relay_url, relays_shown_as
from app.scores.score_event import KIND
from app.store.cursor import cursor_of
from app.store.tables import delivery, event, relay, waiting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from sqlalchemy import Connection

_CHUNK = 1000
_RESTING = (DeliveryState.FAILED, DeliveryState.REJECTED, DeliveryState.CONFLICT)
UNSETTLED = (DeliveryState.PENDING, *_RESTING)
_RETIRED = "nothing is sent to it: the relay is not in the settings"


class NoSuchEvent(LookupError):
    """No event with this id was signed here."""


class NoSuchRelay(LookupError):
    """No relay with this URL was ever in the settings; the message names it, and those that were."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """One delivery as an operator sees it.

    Attributes:
        created_at: the event's own time, unix seconds.
        due: unix seconds of the next attempt; None if there is none, or a process has it in memory.
    """

    event_id: str
    username: str
    created_at: int
    relay: str
    state: DeliveryState
    attempts: int
    due: float | None
    message: str


def said_of(state: DeliveryState, message: str, *, retired: bool) -> str:
    """What to show as a delivery's message."""
    return _RETIRED if retired and state is DeliveryState.PENDING else message


def find_relays(connection: Connection, urls: Iterable[str]) -> list[str]:
    """The relays that the store knows by these URLs, which may lack the query as those that are shown do.

    Raises:
        NoSuchRelay: it does not know one.
    """
    known = connection.execute(select(relay.c.url).order_by(relay.c.id)).scalars().all()
    found: list[str] = []
    for url in urls:
        if not (those := relays_shown_as(url, known)):
            named = ", ".join(map(public_relay_url, known)) or "none"
            raise NoSuchRelay(f"no score was ever meant for {public_relay_url(url)}; relays are: {named}")
        found += those
    return found


def list_deliveries(
    connection: Connection, states: Collection[DeliveryState], relays: Collection[str]
) -> Iterator[Waiting]:
    """Deliveries in any of the states, to any of the relays (all if there are none), oldest first."""
    rows = connection.execution_options(yield_per=_CHUNK).execute(
        select(
            event.c.id,
            event.c.username,
            event.c.created_at,
            relay.c.url,
            delivery.c.state,
            delivery.c.attempts,
            delivery.c.due,
            delivery.c.holder,
            delivery.c.message,
            relay.c.retired,
        )
        .join(delivery, delivery.c.event_seq == event.c.seq)
        .join(relay, relay.c.id == delivery.c.relay_id)
        .where(delivery.c.state.in_(states), relay.c.url.in_(relays) if relays else true())
        .order_by(event.c.seq, relay.c.id)
    )
    for row in rows:
        state = DeliveryState(row.state)
        due = None if row.retired or row.holder is not None else row.due
        message = said_of(state, row.message, retired=row.retired)
        shown = public_relay_url(row.url)
        yield Waiting(row.id, row.username, row.created_at, shown, state, row.attempts, due, message)


def retry_event(connection: Connection, event_id: str, now: float) -> int:
    """Have every delivery of an event that rests tried again from now on; returns how many.

    Raises:
        NoSuchEvent: there is no such event.
    """
    seq = connection.execute(select(event.c.seq).where(event.c.id == event_id)).scalar()
    if seq is None:
        raise NoSuchEvent(event_id)
    return _retry(connection, (delivery.c.event_seq == seq) & delivery.c.state.in_(_RESTING), now)


def retry_failed(connection: Connection, relays: Collection[str], now: float) -> int:
    """Have what failed at these relays (all if there are none) tried again from now on; returns how many."""
    ids = select(relay.c.id).where(relay.c.url.in_(relays))
    where = delivery.c.state == DeliveryState.FAILED
    return _retry(connection, where & delivery.c.relay_id.in_(ids) if relays else where, now)


def _retry(connection: Connection, where: ColumnElement[bool], now: float) -> int:
    newer = event.alias()
    this = select(event.c.seq).where(
        event.c.kind == KIND,
        exists().where(newer.c.d == event.c.d, newer.c.created_at > event.c.created_at),
    )
    settled = {
        "state": DeliveryState.SUPERSEDED.value,
        "message": "a newer event took its place",
        "due": None,
    }
    connection.execute(update(delivery).where(where, delivery.c.event_seq.in_(this)).values(settled))
    cursor_of(connection).tell_waiting()
    again = {
        "state": DeliveryState.PENDING.value,
        "message": "",
        "due": now,
        "holder": None,
        "failing_since": now,
    }
    return connection.execute(update(delivery).where(where).values(again)).rowcount


def give_up(connection: Connection, now: float) -> Counter[str]:
    """Mark as failed what waits for relays that nobody has reached for seven days; relay URL -> how many.

    What was made, or asked for again, within those days goes on waiting.
    """
    before = now - GIVE_UP_SECONDS
    # Locked, because a relay that is back just now may have been sent it by another process.
    old = (
        select(delivery.c.event_seq)
        .join(event, event.c.seq == delivery.c.event_seq)
        .where(
            waiting,
            event.c.created_at <= before,
            delivery.c.failing_since.is_(None) | (delivery.c.failing_since <= before),
        )
        .limit(_CHUNK)
        .with_for_update(of=delivery, skip_locked=True)
    )
    counts: Counter[str] = Counter()
    for relay_id, url, retired in lost_relays(connection, now):
        reason = "the relay is not in the settings" if retired else "no connection"
        failed = {
            "state": DeliveryState.FAILED.value,
            "due": None,
            "message": f"given up after {GIVE_UP_SECONDS // 86_400} days: {reason}",
        }
        here = delivery.c.relay_id == relay_id
        if seqs := connection.execute(old.where(here)).scalars().all():
            connection.execute(update(delivery).where(here, delivery.c.event_seq.in_(seqs)).values(failed))
            counts[url] += len(seqs)
    return counts


def call_back(connection: Connection, now: float) -> int:
    """Have tried from now on what a clock that was ahead has put off; returns how many.

    No pause is longer than CAP_SECONDS, but for an event whose own time is still to come.
    """
    own_time = select(event.c.created_at).where(event.c.seq == delivery.c.event_seq).scalar_subquery()
    late = update(delivery).where(waiting, delivery.c.due > now + CAP_SECONDS, own_time <= now)
    count = connection.execute(late.values(due=now)).rowcount
    if count:
        cursor_of(connection).tell_waiting()
    return count


def lost_relays(connection: Connection, now: float) -> list[tuple[int, str, bool]]:
    """Relays that nobody has reached for seven days: the row's id, the URL, and whether it is retired."""
    lost = select(relay.c.id, relay.c.url, relay.c.retired).where(relay.c.down_since <= now - GIVE_UP_SECONDS)
    return [(row.id, row.url, row.retired) for row in connection.execute(lost)]
