"""What the service answered, as the client gives it: a score, or a part of the board."""

from __future__ import annotations

from dataclasses import dataclass, field

import orjson

from app.nostr.event import Event, parse_event


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an event stands at one relay.

    Attributes:
        state: `pending`, `accepted`, `rejected`, `superseded`, `conflict` or `failed`.
        message: the relay's last words on it; empty if it said none.
        attempts: how often it was sent without a final answer.
    """

    url: str
    state: str
    message: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Receipt:
    """A score, or the deletion of one, as the service answered it.

    Attributes:
        event: the event as it was signed by the app's key.
        address: the address under which relays keep it.
        state: `accepted` (at least one relay has it), `pending`, `superseded`, `rejected`, `deleted` or
            `not-improved`; a text, because a newer service may know more.
        relays: how it stands at each relay.
        text: the whole answer, JSON.
    """

    event: Event
    address: str
    state: str
    relays: tuple[Delivery, ...]
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the board.

    Attributes:
        rank: 1, 2, 2, 4.
        created_at: unix seconds.
        event: the score event, which `app.verifier` judges without the service's word.
    """

    rank: int
    username: str
    score: int
    created_at: int
    event: Event


@dataclass(frozen=True, slots=True)
class Board:
    """A part of the board.

    Attributes:
        rows: best first.
        complete: whether the service has read every relay to its end.
        next: the cursor of the rows behind these; None if there are none.
        text: the whole answer, JSON.
    """

    rows: tuple[Row, ...]
    complete: bool
    next: str | None
    text: str = field(repr=False)


def read_receipt(body: bytes) -> Receipt:
    """Read the answer to a call about a score.

    Raises:
        ValueError, KeyError, TypeError: it is none.
    """
    document = orjson.loads(body)
    relays = tuple(Delivery(r["url"], r["state"], r["message"], r["attempts"]) for r in document["relays"])
    event = parse_event(document["event"])
    return Receipt(event, document["address"], document["state"], relays, body.decode())


def read_board(body: bytes) -> Board:
    """Read the answer to GET /v1/leaderboard.

    Raises:
        ValueError, KeyError, TypeError: it is none.
    """
    document = orjson.loads(body)
    rows = tuple(
        Row(e["rank"], e["username"], e["score"], e["created_at"], parse_event(e["event"]))
        for e in document["entries"]
    )
    return Board(rows, document["complete"], document["next"], body.decode())
