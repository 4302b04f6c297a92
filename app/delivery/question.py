"""What a relay holds of an event, or in its place, asked over the same connection (NIP-01 REQ); pure.

Only what proves itself counts: an event whose id and signature hold, so that a relay cannot make one up.
"""

from collections.abc import Mapping

from app.delivery.model import Delivery
from app.nostr.event import Event, InvalidEvent, parse_event, verify_event
from app.nostr.message import req_message

VERIFIED_LIMIT = 8
"""Events of one answer that are looked at closely; an honest relay sends two at most."""


class Question:
    """One question and what has been answered so far.

    Attributes:
        held: Whether the relay holds the delivery's own event.
        newest: The newest event at the delivery's address that wins over it, if the relay holds one.
    """

    def __init__(self, delivery: Delivery) -> None:
        self.held = False
        self.newest: Event | None = None
        self._delivery = delivery
        # A deletion stands at no address: nothing takes its place.
        self._kind, self._author, self._d = [*delivery.address.split(":", 2), "", ""][:3]
        self._left = VERIFIED_LIMIT

    def message(self) -> str:
        """The REQ; its subscription is named by the event's id."""
        filters: list[Mapping[str, object]] = [{"ids": [self._delivery.event_id], "limit": 1}]
        if self._author:
            kinds = [int(self._kind)]
            filters.append({"kinds": kinds, "authors": [self._author], "#d": [self._d], "limit": 1})
        return req_message(self._delivery.event_id, *filters)

    def take(self, fields: Mapping[str, object]) -> bool:
        """Take an event that the relay sent; whether it says anything."""
        if self._left == 0 or not self._may_matter(fields):
            return False
        self._left -= 1
        try:
            event = parse_event(fields)
        except InvalidEvent:
            return False
        if not verify_event(event):
            return False
        if event.id == self._delivery.event_id:
            self.held = True
        elif address_of(event) == self._delivery.address and self._beats_all(event):
            self.newest = event
        else:
            return False
        return True

    def _may_matter(self, fields: Mapping[str, object]) -> bool:
        """Whether it is worth a look, which costs a thousand times as much as this."""
        return fields.get("id") == self._delivery.event_id or fields.get("pubkey") == self._author

    def _beats_all(self, event: Event) -> bool:
        """Whether relays keep this one (NIP-01: the later, and of two in one second the lower id)."""
        rank = (-event.created_at, event.id)
        if self.newest is not None and rank > (-self.newest.created_at, self.newest.id):
            return False
        return rank < (-self._delivery.created_at, self._delivery.event_id)


def address_of(event: Event) -> str:
    """`kind:pubkey:d` of an addressable event (NIP-01)."""
    d = next((tag[1] for tag in event.tags if tag[0] == "d" and len(tag) > 1), "")
    return f"{event.kind}:{event.pubkey}:{d}"
