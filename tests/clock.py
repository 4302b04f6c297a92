"""A clock that a test sets."""


class Clock:
    """Reads what it was last set to, in seconds."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now
