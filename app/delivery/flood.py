"""How long to rest from reading what is of no use; pure. Time comes in as monotonic seconds."""

from dataclasses import dataclass

MESSAGE_SECONDS = 0.0002
BYTE_SECONDS = 1e-7
"""What a useless message costs its relay: some ten times what it costs us to see that it is useless."""

GRACE_SECONDS = 0.5
"""Honest relays repeat themselves too, where pages overlap or a subscription begins."""


@dataclass(slots=True)
class Flood:
    """A bucket that useless messages fill and time empties; what it cannot hold is time to rest."""

    _full: float = 0.0
    _seen: float = 0.0

    def rest(self, messages: int, size: float, now: float) -> float:
        """Seconds to rest after so many useless messages, of so many bytes together; 0 after a few."""
        self._full = max(self._full - (now - self._seen), 0.0)
        self._full += messages * MESSAGE_SECONDS + size * BYTE_SECONDS
        self._seen = now
        return max(self._full - GRACE_SECONDS, 0.0)
