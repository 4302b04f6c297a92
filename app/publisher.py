"""Publishing a score: sign it into the store, hand it to the relays, say how it stands."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import orjson

from app.delivery.model import DeliveryState
from app.scores.score_event import address, identifier
from app.store.errors import StoreUnavailable
from app.store.journal import Signed
from app.store.ledger import Deletion, NotImproved, Replayed, Request
from app.store.matches import tally_of
from app.store.scores import RelayState, StoredScore, find_score, latest_score

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.delivery.engine import Engine
    from app.delivery.watch import Watch
    from app.principal import Principal
    from app.scores.score import Claim
    from app.store.idempotency import Attempt
    from app.store.ledger import Ledger
    from app.store.matches import Proof, Tally
    from app.store.store import Store

_LOOK_EVERY = 0.2


class ScoreState(StrEnum):
    """How a score stands over all its relays."""

    ACCEPTED = "accepted"  # at least one relay has it
    PENDING = "pending"  # on its way to a relay, or at rest until an operator has it tried again
    SUPERSEDED = "superseded"  # by a newer event, of this store or one that a relay holds (a conflict)
    REJECTED = "rejected"  # no relay will have it
    DELETED = "deleted"
    NOT_IMPROVED = "not-improved"  # policy `best`: the standing score is as good or better


class Receipt(NamedTuple):
    """What a caller learns of a score, or of a deletion; a named tuple, since each post makes one.

    Attributes:
        payload: the event's JSON text.
        address: what the event stands at, or what it deletes.
        deleted_at: `created_at` of the deletion that covers the score, unix seconds; None while it stands.
        replayed: the request came before, and this is its score.
        proof: the match that proves the score; None for one that is claimed.
        matches: of the name, where it is asked for.
    """

    event_id: str
    payload: str
    address: str
    state: ScoreState
    relays: tuple[RelayState, ...]
    deleted_at: int | None = None
    replayed: bool = False
    proof: Proof | None = None
    matches: Tally | None = None

    def to_json(self) -> bytes:
        """The JSON object that clients get: event, address, state, how it stands at each relay, proof."""
        document: dict[str, object] = {
            "event": orjson.Fragment(self.payload),
            "address": self.address,
            "state": self.state,
            "relays": [relay.shown() for relay in self.relays],
            "proof": self.proof,
        }
        if self.deleted_at is not None:
            document["deleted_at"] = self.deleted_at
        if self.matches is not None:
            document["matches"] = self.matches
        return orjson.dumps(document)


def score_state(states: Collection[DeliveryState]) -> ScoreState:
    """The state of a score whose deliveries stand so."""
    if DeliveryState.ACCEPTED in states:
        return ScoreState.ACCEPTED
    if DeliveryState.PENDING in states or DeliveryState.FAILED in states:
        return ScoreState.PENDING
    if DeliveryState.SUPERSEDED in states or DeliveryState.CONFLICT in states:
        return ScoreState.SUPERSEDED
    return ScoreState.REJECTED


def hand_over(engine: Engine, signed: Signed, hold: frozenset[str]) -> set[str]:
    """Have the relays' workers take what was stored.

    Args:
        hold: the relays whose deliveries this process holds.

    Returns:
        The relays whose delivery nobody holds: another process may take it.
    """
    engine.dispatch(signed.held)
    unheld = {url for url, state in signed.states.items() if state is DeliveryState.PENDING} - hold
    if unheld:
        engine.wake(unheld)
    return unheld


class Publisher:
    """The one way by which a claim becomes an event, whoever brings it.

    Attributes:
        accepted: scores signed since the process started.
    """

    def __init__(self, store: Store, ledger: Ledger, engine: Engine) -> None:
        self.accepted = 0
        self._store = store
        self._ledger = ledger
        self._engine = engine
        self._stopping = asyncio.Event()

    async def publish(
        self,
        claim: Claim,
        *,
        principal: Principal | None = None,
        attempt: Attempt | None = None,
        wait: float = 0,
    ) -> Receipt:
        """Sign a claim; event and deliveries are on disk when this returns.

        Args:
            claim: a checked username and score.
            principal: who makes the claim; None for this process itself.
            attempt: set if the claim is to be signed once, however often it comes.
            wait: seconds to wait at most until every relay has answered.

        Raises:
            Refused: nothing was signed.
            StoreUnavailable: the database does not take it; nothing was signed, but see OutcomeUnknown.
        """
        request = Request(claim, principal, self._engine.accepting(), attempt)
        answer: Signed | NotImproved | Replayed = await self._store.write(self._ledger.append, request)
        match answer:
            case NotImproved(event_id, replayed):
                standing = await self._get(event_id)
                return standing._replace(state=ScoreState.NOT_IMPROVED, replayed=replayed)
            case Replayed(event_id):
                return (await self._again(event_id, wait))._replace(replayed=True)
            case Signed():
                self.accepted += 1
                where = address(answer.event.pubkey, claim.username)
                return await self._deliver(answer, where, request.hold, wait)

    async def delete(self, username: str, principal: Principal, *, wait: float = 0) -> Receipt:
        """Sign the deletion of a name's score (NIP-09); it is on disk when this returns.

        Returns:
            How the deletion itself stands.

        Raises:
            Refused: nothing was signed.
            StoreUnavailable: the database does not take it; nothing was signed, but see OutcomeUnknown.
        """
        request = Deletion(username, principal, self._engine.accepting())
        signed: Signed = await self._store.write(self._ledger.delete, request)
        return await self._deliver(signed, address(signed.event.pubkey, username), request.hold, wait)

    async def _deliver(self, signed: Signed, where: str, hold: frozenset[str], wait: float) -> Receipt:
        pending = [url for url, state in signed.states.items() if state is DeliveryState.PENDING]
        watch = self._engine.watch(signed.event.id, pending) if wait and pending else None
        unheld = hand_over(self._engine, signed, hold)
        receipt = Receipt(
            signed.event.id,
            signed.payload,
            where,
            score_state(signed.states.values()),
            tuple(RelayState(url, state) for url, state in signed.states.items()),
        )
        return receipt if watch is None else await self._settled(receipt, watch, wait, look=bool(unheld))

    async def _again(self, event_id: str, wait: float) -> Receipt:
        """An event of before; its relays may still be waited for."""
        receipt = await self._get(event_id)
        pending = [relay.url for relay in receipt.relays if relay.state is DeliveryState.PENDING]
        if not wait or not pending:
            return receipt
        # The answers may have come between the look and the watch, so the store is looked at again.
        return await self._settled(receipt, self._engine.watch(event_id, pending), wait, look=True)

    def stop_waiting(self) -> None:
        """Answer now whoever waits for relays, because the service stops."""
        self._stopping.set()

    async def _settled(self, receipt: Receipt, watch: Watch, wait: float, *, look: bool) -> Receipt:
        """The score once its relays have answered, or when the time is over.

        Args:
            look: also look into the store, where another process may write the answer.
        """
        awaited = [watch.wait(wait), self._stopping.wait()]
        if look:
            awaited.append(self._look(receipt.event_id))
        tasks = [asyncio.ensure_future(each) for each in awaited]
        try:
            await asyncio.wait(tasks, timeout=wait, return_when=asyncio.FIRST_COMPLETED)
            return await self._get(receipt.event_id)
        except StoreUnavailable:
            return receipt  # it is on disk all the same
        finally:
            for task in tasks:
                task.cancel()

    async def _look(self, event_id: str) -> None:
        with suppress(StoreUnavailable):
            relays = (await self._get(event_id)).relays
            while DeliveryState.PENDING in {relay.state for relay in relays}:
                await asyncio.sleep(_LOOK_EVERY)
                relays = (await self._get(event_id)).relays

    async def _get(self, event_id: str) -> Receipt:
        receipt = await self.find(event_id)
        if receipt is None:
            raise LookupError(f"the event {event_id} is no longer in the store")
        return receipt

    async def find(self, event_id: str) -> Receipt | None:
        """The score event or deletion with this id, as it stands now."""
        return _receipt(await self._store.read(lambda connection: find_score(connection, event_id)))

    async def latest(self, username: str) -> tuple[Receipt | None, Tally]:
        """The newest score event of a name, however it is spelled, and how many matches it has begun.

        The score's state may be `deleted`; a name may have matches and no score.
        """
        d = identifier(username)
        stored, tally = await self._store.read(lambda c: (latest_score(c, d), tally_of(c, d)))
        receipt = _receipt(stored)
        return receipt and receipt._replace(matches=tally), tally


def _receipt(stored: StoredScore | None) -> Receipt | None:
    if stored is None:
        return None
    return Receipt(
        stored.event_id,
        stored.payload,
        address(stored.pubkey, stored.username),
        ScoreState.DELETED if stored.deleted_at else score_state([relay.state for relay in stored.relays]),
        stored.relays,
        stored.deleted_at,
        proof=stored.proof,
    )
