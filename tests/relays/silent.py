"""Relays that leave something unanswered for ever.

`python -m tests.relays.silent handshake|event` prints its URL and runs until its standard input is closed.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tests.relays.bare import BareRelay, relay_process, serve

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


class NoHandshake(BareRelay):
    """A connection that is accepted, and that is all."""

    def data_received(self, data: bytes) -> None:
        """Whatever it is."""


class NoOk(BareRelay):
    """A connection on which no EVENT gets an OK."""

    def on_text(self, payload: bytes) -> None:
        """Answer a message, unless it is an EVENT."""
        if not payload.startswith(b'["EVENT"'):
            super().on_text(payload)


KINDS = {"handshake": NoHandshake, "event": NoOk}


def silent_relay(unanswered: str) -> AbstractContextManager[str]:
    """A relay that never answers a `handshake` or an `event`, in a process of its own; gives its URL."""
    return relay_process("tests.relays.silent", unanswered)


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(KINDS[sys.argv[1]]))
