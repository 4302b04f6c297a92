"""Publishing a score: sign it into the store, hand it to the relays, say how it stands."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from app.delivery.model import DeliveryState
from app.scores.score_event import address, identifier
from app.store.ledger import NotImproved, Request
from app.store.scores import RelayState, StoredScore, find_score, latest_score

if TYPE_CHECKING:
    from app.delivery.engine import Engine
    from app.scores.score import Claim
    from app.store.ledger import Ledger
    from app.store.store import Store


class ScoreState(StrEnum):
    """How a score stands over all its relays."""

    ACCEPTED = "accepted"  # at least one relay has it
    PENDING = "pending"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"  # no relay will have it
    NOT_IMPROVED = "not-improved"  # policy `best`: the standing score is as good or better


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a caller learns of a score; `payload` is the event's JSON text."""

    event_id: str
    payload: str
    address: str
    state: ScoreState
    relays: tuple[RelayState, ...]


def score_state(states: Collection[DeliveryState]) -> ScoreState:
    """The state of a score whose deliveries stand so."""
    if DeliveryState.ACCEPTED in states:
        return ScoreState.ACCEPTED
    if DeliveryState.PENDING in states:
        return ScoreState.PENDING
    if DeliveryState.SUPERSEDED in states:
        return ScoreState.SUPERSEDED
    return ScoreState.REJECTED


class Publisher:
    """The one way by which a claim becomes an event, whoever brings it."""

    def __init__(self, store: Store, ledger: Ledger, engine: Engine) -> None:
        self._store = store
        self._ledger = ledger
        self._engine = engine

    async def publish(self, claim: Claim, *, key_id: str | None = None, wait: float = 0) -> Receipt:
        """Sign a claim; event and deliveries are on disk when this returns.

        Args:
            claim: a checked username and score.
            key_id: the API key that vouches for the claim.
            wait: seconds to wait at most until every relay has answered.

        Raises:
            KeyRevoked, ClockBehind, TooFast: nothing was signed.
            StoreUnavailable: the database does not take it; nothing was signed.
        """
        request = Request(claim, key_id, self._engine.accepting())
        answer = await self._store.write(self._ledger.append, request)
        if isinstance(answer, NotImproved):
            standing = await self.find(answer.event_id)
            if standing is None:
                raise LookupError(f"the standing event {answer.event_id} is not in the store")
            return Receipt(
                standing.event_id,
                standing.payload,
                standing.address,
                ScoreState.NOT_IMPROVED,
                standing.relays,
            )
        pending = [url for url, state in answer.states.items() if state is DeliveryState.PENDING]
        if wait and pending:
            watch = self._engine.watch(answer.event.id, pending)
            self._engine.dispatch(answer.held)
            await watch.wait(wait)
            settled = await self.find(answer.event.id)
            if settled is not None:
                return settled
        else:
            self._engine.dispatch(answer.held)
        return Receipt(
            answer.event.id,
            answer.payload,
            address(answer.event.pubkey, claim.username),
            score_state(answer.states.values()),
            tuple(RelayState(url, state) for url, state in answer.states.items()),
        )

    async def find(self, event_id: str) -> Receipt | None:
        """The score event with this id, as it stands now."""
        return _receipt(await self._store.read(lambda connection: find_score(connection, event_id)))

    async def latest(self, username: str) -> Receipt | None:
        """The newest score event of a name, however it is spelled."""
        d = identifier(username)
        return _receipt(await self._store.read(lambda connection: latest_score(connection, d)))


def _receipt(stored: StoredScore | None) -> Receipt | None:
    if stored is None:
        return None
    return Receipt(
        stored.event_id,
        stored.payload,
        address(stored.pubkey, stored.username),
        score_state([relay.state for relay in stored.relays]),
        stored.relays,
    )
