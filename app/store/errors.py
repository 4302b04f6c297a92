"""What can go wrong with the store.

StoreError
 ├─ StoreUnusable         it cannot be opened: fix the setting or the database
 └─ StoreUnavailable      it was opened, and does not answer now: nothing was written
     └─ OutcomeUnknown    the connection was lost while it committed: whether it was written is not known
"""

from __future__ import annotations


class StoreError(Exception):
    """The store's fault, not the caller's."""


class StoreUnusable(StoreError):
    """The database cannot be opened; the message says what to do."""


class StoreUnavailable(StoreError):
    """The database does not take this write or read now; nothing of it was kept."""


class OutcomeUnknown(StoreUnavailable):
    """The database may have kept this write, or not: it was lost from sight as it was told to."""


def on_one_line(error: object) -> str:
    """What a driver says, without the lines in which PostgreSQL quotes the statement and its values."""
    said = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return " ".join(said.split())
