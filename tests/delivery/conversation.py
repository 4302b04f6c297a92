"""A session to tell things to, and what it signs with."""

import json
from typing import Any

from app.delivery.model import Delivery
from app.delivery.session import Reply, Session
from tests.delivery.outbox import make_delivery

RELAY = "ws://relay"
ONE, TWO = make_delivery(RELAY, 1), make_delivery(RELAY, 2)


class Signer:
    """Signs nothing, but says what it was asked to sign."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, relay: str, challenge: str) -> str:
        self.asked.append((relay, challenge))
        return json.dumps({"id": f"auth-{challenge}", "kind": 22242})


def tell(session: Session, *parts: Any, now: float = 0.0) -> list[Reply]:
    return session.receive([json.dumps(parts)], now)


def ok(session: Session, delivery: Delivery, accepted: bool = True, message: str = "") -> list[Reply]:
    return tell(session, "OK", delivery.event_id, accepted, message)
