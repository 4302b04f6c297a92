"""How much to send to a relay, and when to stop for a while; pure. Time comes in as monotonic seconds."""

from dataclasses import dataclass

from app.delivery.backoff import Random, delay

FIRST_WINDOW = 128
WINDOW_LIMIT = 2048


@dataclass(slots=True)
class Pace:
    """A window as TCP has one: every accepted event widens it, every wait in vain halves it.

    `rate-limited:` also stops all sending for a while, longer each time until an event is accepted again.

    Attributes:
        window: How many deliveries may wait for an answer at once.
    """

    random: Random
    window: int = FIRST_WINDOW
    _stopped_until: float = 0.0
    _stops: int = 0

    def pause(self, now: float) -> float:
        """Seconds for which nothing is to be sent."""
        return max(self._stopped_until - now, 0.0)

    def room(self, in_flight: int) -> int:
        """How many more to send now: none until a quarter of the window is free, so they leave together."""
        room = self.window - in_flight
        return room if room >= self.window // 4 else 0

    def accepted(self) -> None:
        """An event was accepted."""
        self.window = min(self.window + 1, WINDOW_LIMIT)
        self._stops = 0

    def in_vain(self) -> None:
        """Something was sent and has to be sent again."""
        self.window = max(1, self.window // 2)

    def rate_limited(self, now: float) -> None:
        """The relay asks for patience; refusals of what was already on its way are no further reason."""
        if now >= self._stopped_until:
            self._stops += 1
            self._stopped_until = now + delay(self._stops, self.random)

    def reconnected(self) -> None:
        """A new connection starts with a small window."""
        self.window = FIRST_WINDOW
