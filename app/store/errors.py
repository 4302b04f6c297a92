"""What can go wrong with the store.

StoreError
 ├─ StoreUnusable      it cannot be opened: fix the setting or the file
 └─ StoreUnavailable   it was opened, and does not answer now: nothing was written
"""

from __future__ import annotations


class StoreError(Exception):
    """The store's fault, not the caller's."""


class StoreUnusable(StoreError):
    """The database cannot be opened; the message says what to do."""


class StoreUnavailable(StoreError):
    """The database does not take this write or read now; nothing of it was kept."""
