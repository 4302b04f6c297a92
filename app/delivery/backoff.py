"""Jittered exponential backoff, for connections and deliveries alike."""

from collections.abc import Callable
from dataclasses import dataclass

FIRST_SECONDS = 1.0
CAP_SECONDS = 300.0
STABLE_SECONDS = 60.0

Random = Callable[[], float]
"""A source of floats in [0, 1)."""


def delay(failures: int, random: Random) -> float:
    """Seconds to wait after the given number of failures in a row (1 or more).

    Between half of and the whole ceiling, which doubles from one second to five minutes: clients that failed
    together come back apart, and the first retry comes within a second.
    """
    ceiling = min(CAP_SECONDS, FIRST_SECONDS * 2.0 ** min(failures - 1, 16))
    return ceiling * (0.5 + random() / 2)


@dataclass(slots=True)
class Backoff:
    """The waits of something that keeps failing, forgiven only after it held for a stable minute."""

    random: Random
    failures: int = 0

    def after(self, lasted: float) -> float:
        """Seconds to wait after a run that lasted this many seconds before it failed."""
        self.failures = 1 if lasted >= STABLE_SECONDS else self.failures + 1
        return delay(self.failures, self.random)
