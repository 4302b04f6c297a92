"""Deliveries that wait to be sent to one relay: first in, first out, and only the newest of each address."""

from collections import OrderedDict
from collections.abc import Iterator

from app.delivery.model import Delivery


class Queue:
    """An ordered set of deliveries by event id."""

    def __init__(self) -> None:
        self._deliveries: OrderedDict[str, Delivery] = OrderedDict()
        self._by_address: dict[str, Delivery] = {}

    def __len__(self) -> int:
        return len(self._deliveries)

    def __iter__(self) -> Iterator[Delivery]:
        return iter(self._deliveries.values())

    def __contains__(self, event_id: str) -> bool:
        return event_id in self._deliveries

    def push(self, delivery: Delivery) -> Delivery | None:
        """Add a delivery; of two for one address the older is left out and returned."""
        rival = self._by_address.get(delivery.address)
        if rival is not None:
            if rival.created_at > delivery.created_at:
                return delivery
            self.discard(rival.event_id)
        self._deliveries[delivery.event_id] = delivery
        self._by_address[delivery.address] = delivery
        return rival

    def pop(self) -> Delivery:
        """Take the delivery that has waited longest.

        Raises:
            KeyError: The queue is empty.
        """
        _, delivery = self._deliveries.popitem(last=False)
        del self._by_address[delivery.address]
        return delivery

    def discard(self, event_id: str) -> bool:
        """Take a delivery out; whether it was in."""
        delivery = self._deliveries.pop(event_id, None)
        if delivery is not None:
            del self._by_address[delivery.address]
        return delivery is not None

    def drain(self) -> Iterator[Delivery]:
        """Take everything out."""
        while self._deliveries:
            yield self.pop()
