"""The running service: the one place that names concrete classes and puts them together."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from app import replay_main
from app.child.aside import Aside
from app.delivery.connection import tls_context
from app.delivery.engine import Engine
from app.delivery.information import fetch_limitation
from app.delivery.status import about
from app.match_host import MatchHost
from app.matches.opening import sign_commitment
from app.matches.transcript import sign_transcript
from app.nostr.nip42 import auth_event
from app.nostr.relay_url import public_relay_url
from app.patient_clock import PatientClock
from app.publisher import Publisher
from app.recovery import recover
from app.scores.score_event import sign_deletion, sign_score
from app.store import holders
from app.store.database import Database, database_fault
from app.store.errors import StoreError, StoreUnusable, on_one_line
from app.store.journal import Journal
from app.store.ledger import Ledger
from app.store.match_book import MatchBook
from app.store.outbox import StoreOutbox, register_relays, reinstate_relays, retire_relays
from app.store.seen_tokens import SeenTokens
from app.store.store import Store
from app.web.api_keys import ApiKeyCallers
from app.web.app import make_app
from app.web.auth import Authenticator
from app.web.cors import Cors
from app.web.counters import Counters
from app.web.edge import Edge
from app.web.health import Health
from app.web.leaderboard import LeaderboardRoutes
from app.web.limits import LimitAddresses, LimitedSignIn, Limits, Rates
from app.web.matches import Matches
from app.web.metrics import Metrics
from app.web.nip05 import nip05_routes
from app.web.origin import Origins
from app.web.protocol import protocol_routes
from app.web.scores import Scores
from app.web.service_metrics import ServiceMetrics
from app.web.signed_calls import SignedCalls
from app.web.store_proofs import StoreProofs
from app.web.traffic import Traffic
from app.web.verify import Verification

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from app.config import Settings
    from app.jwt_trust import JwtTrust
    from app.matches.commitment import Terms
    from app.nostr.event import Event
    from app.nostr.keys import SecretKey
    from app.scores.score import Claim
    from app.web.jwt_tokens import JwtTokens
    from app.web.live_board import LiveBoard

log = logging.getLogger(__name__)

_SWEEP_AFTER = 60  # by then this process, too, has tried the relays that seem out of reach
_SWEEP_EVERY = 3600


@dataclass(frozen=True, slots=True)
class Service:
    """Everything that runs while the service is open."""

    settings: Settings
    store: Store
    ledger: Ledger
    engine: Engine
    publisher: Publisher
    host: MatchHost
    replays: Aside
    counters: Counters
    jwt_tokens: JwtTokens | None
    unread: Mapping[str, str]
    clock: Callable[[], float]

    @property
    def proofs(self) -> StoreProofs:
        """What proves the scores of this service."""
        return StoreProofs(self.store)

    def app(self, public_url: str, board: LiveBoard | None = None) -> ASGIApp:
        """The HTTP application, with a board if there is one; clients reach it under `public_url`."""
        authenticator = Authenticator(
            ApiKeyCallers(self.store),
            SignedCalls(self.store, SeenTokens(self.clock), public_url, self.clock),
            self.jwt_tokens,
        )
        limits = Limits(Rates.of(self.settings), self.counters, Origins(self.settings.trusted_proxies))
        traffic = Traffic()
        metrics = ServiceMetrics(self.store, self.engine, self.publisher, traffic, self.clock)
        sign_in = LimitedSignIn(authenticator, limits)
        routes = [
            *Scores(self.publisher, sign_in, public_url, only_proved=self.settings.require_proof).routes(),
            *Matches(self.host, sign_in, public_url).routes(),
            *(self._board_routes(public_url, board, limits) if board is not None else ()),
            *Verification(self.settings.verifying_keys, limits, sign_in, self.replays).routes(),
            *protocol_routes(self.settings),
            *nip05_routes(self.settings.pubkey, self.settings.public_relays),
            *Health(self.store, self.ledger, self.engine, self.unread).routes(),
            *Metrics(traffic, metrics.gather).routes(),
        ]
        counted = LimitAddresses(make_app(routes, public_url), limits, authenticator.knows, public_url)
        return Edge(counted, Cors(self.settings.cors_origins), traffic, public_url)

    def stop_waiting(self, board: LiveBoard) -> None:
        """Answer now whoever waits for relays, and end the streams, because the service stops."""
        self.publisher.stop_waiting()
        board.close()

    def _board_routes(self, public_url: str, board: LiveBoard, limits: Limits) -> list[BaseRoute]:
        # Here, because templates take 6 MiB that a service without a board does not need.
        from app.web.pages.routes import page_routes

        return [
            *LeaderboardRoutes(board, limits).routes(),
            *page_routes(self.settings, public_url, board.view, limits, matches=True),
        ]


@asynccontextmanager
async def open_service(
    settings: Settings,
    clock: Callable[[], float] = time.time,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    briefly: bool = False,
) -> AsyncIterator[Service]:
    """Open the store, connect to the relays, and close both in the end.

    Args:
        clock: unix seconds.
        monotonic: seconds, on a clock that nobody sets.
        briefly: this process ends soon; a service beside it may have other relays, and keeps them.

    Raises:
        StoreUnusable: if the database cannot be opened.
    """
    tls_context()  # takes some 60 ms, for which nobody waits yet
    database = await asyncio.to_thread(Database, settings.database_url)
    try:
        with database.writer.begin() as connection:
            holder = holders.register(connection, clock())
            relays = register_relays(connection, settings.relays)
            if briefly:
                reinstate_relays(connection, settings.relays)
            else:
                retire_relays(connection, settings.relays, clock())
    except Exception as error:
        database.close()
        if (fault := database_fault(database.writer, error)) is None:
            raise
        raise StoreUnusable(f"the database cannot be written: {on_one_line(fault)}") from None
    store = Store(database)
    outbox = StoreOutbox(store, holder=holder, relays=relays, clock=clock)
    counters = Counters(settings.rate_limit_storage)
    try:
        journal = Journal(relays, holder)
        ledger = Ledger(
            sign=partial(_sign_claim, settings.secret_key),
            sign_deletion=lambda d, at: sign_deletion(settings.secret_key, d=d, created_at=at),
            journal=journal,
            only_improvements=settings.score_policy == "best",
            clock=clock,
        )
        patient_clock = PatientClock(clock, monotonic)
        book = MatchBook(
            sign_commitment=partial(_sign_commitment, settings.secret_key),
            sign_transcript=partial(sign_transcript, settings.secret_key),
            ledger=ledger,
            journal=journal,
            expiry=settings.match_expiry,
            publishes=settings.publish_transcripts,
            clock=clock,
            patient_clock=patient_clock,
        )
        unread = await recover(settings.relays, settings.verifying_keys, outbox)
        sign_auth = partial(_sign_auth, settings.secret_key, clock)
        async with (
            Engine(
                settings.relays, outbox, sign_auth=sign_auth, ask_limits=fetch_limitation, clock=clock
            ) as engine,
            _open_jwt_tokens(settings.jwt) as jwt_tokens,
        ):
            host = MatchHost(store, book, engine, patient_clock)
            keys = settings.verifying_keys
            replays = Aside(partial(replay_main.answer, keys=keys), "app.replay_main", *sorted(keys))
            tasks = [
                asyncio.create_task(host.sweep(), name="matches"),
                asyncio.create_task(_beat(outbox, engine), name="beat"),
                asyncio.create_task(
                    database.backend.listen(partial(engine.wake, settings.relays)), name="listen"
                ),
                asyncio.create_task(_sweep(outbox, engine), name="sweep"),
            ]
            try:
                publisher = Publisher(store, ledger, engine)
                yield Service(
                    settings,
                    store,
                    ledger,
                    engine,
                    publisher,
                    host,
                    replays,
                    counters,
                    jwt_tokens,
                    unread,
                    clock,
                )
            finally:
                await host.close()
                await replays.close()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks)
                await counters.close()
    finally:
        await _leave(outbox)
        await store.close()


@asynccontextmanager
async def _open_jwt_tokens(trust: JwtTrust | None) -> AsyncIterator[JwtTokens | None]:
    if trust is None:
        yield None
        return
    # Here, because what checks them takes 9 MiB that a service without an identity provider does not need.
    from app.web.jwks import KeySet
    from app.web.jwt_tokens import JwtTokens

    async with KeySet(trust.jwks_url) as keys:
        yield JwtTokens(trust, keys)


async def _beat(outbox: StoreOutbox, engine: Engine) -> None:
    """Keep what this process holds, as long as it holds anything."""
    while True:
        await asyncio.sleep(holders.BEAT_EVERY)
        if any(relay.queued or relay.in_flight for relay in engine.status()):
            try:
                await outbox.beat()
            except StoreError as error:
                log.error("%s", error)


async def _sweep(outbox: StoreOutbox, engine: Engine) -> None:
    """See to what no worker comes upon: relays out of reach for days, times that a clock got wrong."""
    await asyncio.sleep(_SWEEP_AFTER)
    while True:
        try:
            if count := await outbox.call_back():
                log.warning("%d deliveries were put off by a clock that was ahead: they are due now", count)
            counts = await outbox.give_up()
            engine.gave_up(counts)
            for relay, count in counts.items():
                log.error(
                    "%s: gave up %d deliveries: see `outbox list`",
                    public_relay_url(relay),
                    count,
                    extra=about(relay),
                )
        except StoreError as error:
            log.error("%s", error)
        await asyncio.sleep(_SWEEP_EVERY)


async def _leave(outbox: StoreOutbox) -> None:
    try:
        await outbox.leave()
    except StoreError as error:
        log.error("%s; another process takes over after some seconds what this one held", error)


def _sign_claim(secret: SecretKey, claim: Claim, created_at: int) -> Event:
    return sign_score(secret, username=claim.username, score=claim.score, created_at=created_at)


def _sign_commitment(secret: SecretKey, terms: Terms, commitment: str, created_at: int) -> Event:
    return sign_commitment(secret, terms=terms, commitment=commitment, created_at=created_at)


def _sign_auth(secret: SecretKey, clock: Callable[[], float], relay: str, challenge: str) -> str:
    return auth_event(secret, relay=relay, challenge=challenge, created_at=int(clock())).to_json()
