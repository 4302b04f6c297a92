"""How delivery to each relay stands, for people and machines to look at."""

from dataclasses import dataclass

from app.delivery.model import Delivery
from app.nostr.relay_url import public_relay_url


@dataclass(slots=True)
class Tally:
    """What a relay's worker has counted since the process started.

    Attributes:
        connects: Connections that came about.
        accepted: Events the relay accepted.
        rejected: Events it rejected for good.
        conflicts: Events that it will not have because it holds a newer one which is not ours.
        failed: Events given up because it gave no verdict in seven days.
        retried: Attempts that came to nothing, for whatever reason.
    """

    connects: int = 0
    accepted: int = 0
    rejected: int = 0
    conflicts: int = 0
    failed: int = 0
    retried: int = 0


@dataclass(frozen=True, slots=True)
class RelayStatus:
    """One relay, now.

    Attributes:
        url: The relay.
        connected: Whether events can be sent to it.
        last_message: Its last NOTICE, bounded and on one line.
        last_error: Why the last connection failed or ended.
        concerns: Why it may not take scores, by its own word (NIP-11) or its refusal to authenticate us.
        queued: Deliveries in memory that wait to be sent.
        in_flight: Deliveries that wait for an answer.
        oldest: `created_at` of the oldest of both, unix seconds; None if there is none.
        ignored: Messages from it that meant nothing, since the process started.
        tally: What else was counted.
    """

    url: str
    connected: bool
    last_message: str
    last_error: str
    concerns: tuple[str, ...]
    queued: int
    in_flight: int
    oldest: int | None
    ignored: int
    tally: Tally


def about(relay: str, delivery: Delivery | None = None) -> dict[str, str]:
    """What a line of the log is about."""
    fields = {"relay": public_relay_url(relay)}
    return fields if delivery is None else fields | {"event": delivery.event_id, "address": delivery.address}
