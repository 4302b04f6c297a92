"""Playing matches for players: opens, deals, answers their plays, and closes what has expired.

A match is what the store holds of it, so that any process may take the next call. How it was last seen is
kept here to spare a reading: a step is written only onto what it was made for, so what is no longer so shows.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from app.briscola.errors import IllegalAction
from app.matches.commitment import Secrets, Terms, commitment, new_match_id
from app.matches.match import WrongPly
from app.matches.opening import statement_fault
from app.matches.transcript import Forfeit
from app.publisher import hand_over
from app.scores.score_event import identifier
from app.store.errors import StoreError
from app.store.match_steps import Deal, Ending, Opening, Step
from app.store.matches import due_matches, find_match, find_transcript
from app.store.refusals import Refused
from app.thinking import Thinking

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.briscola.cards import Card
    from app.delivery.engine import Engine
    from app.matches.match import Match
    from app.nostr.event import Event
    from app.principal import Principal
    from app.store.match_book import MatchBook, Published
    from app.store.matches import StoredMatch
    from app.store.store import Store

SWEEP_EVERY = 2.0
"""Seconds between looks for matches that have expired, or whose score can be published now."""

SEEN = 1000
"""Matches of which it is kept how they were last seen."""

log = logging.getLogger(__name__)


class NotNow(Exception):
    """The match is not where the call takes it to be; the message says where it is."""


class NotDealt(NotNow):
    """Nothing is dealt yet."""


class AlreadyDealt(NotNow):
    """The match was dealt with another seed."""


class MatchOver(NotNow):
    """The match has ended."""


class InvalidStatement(ValueError):
    """The event is not the player's word for this seed; the message says why."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A match that was opened, and the token that plays it, which nobody can show again."""

    match: StoredMatch
    token: str = field(repr=False)


def token_hash(token: str) -> str:
    """What is kept of a token, which has 256 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def may_play(match: StoredMatch, token: str) -> bool:
    """Whether this is the token of the match, compared in constant time."""
    return hmac.compare_digest(match.token, token_hash(token))


class MatchHost:
    """Plays matches; `sweep` runs beside it, and `close` ends it.

    Args:
        patient_clock: the book's, by which a match has expired.
    """

    def __init__(
        self, store: Store, book: MatchBook, engine: Engine, patient_clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._book = book
        self._engine = engine
        self._patient_clock = patient_clock
        self._thinking = Thinking()
        self._seen: OrderedDict[str, StoredMatch] = OrderedDict()

    async def close(self) -> None:
        """End the process in which the computer thinks."""
        await self._thinking.close()

    async def open(self, username: str, level: str, player: str, principal: Principal) -> Opened:
        """Commit to a match and claim its name; the commitment is on disk, and on its way to the relays.

        Args:
            username: a name that was checked.
            player: the public key that signs for the player, 64 lower-case hex digits.

        Raises:
            Refused: nothing was signed.
            InvalidTerms: no match can be played on these terms.
            StoreUnavailable: the database does not take it.
        """
        terms = Terms(new_match_id(), player, username, level)
        hidden, token = Secrets.generate(), secrets.token_hex(32)
        committed = commitment(terms, hidden)
        hold = self._engine.accepting()
        opening = Opening(terms, hidden, committed, token_hash(token), principal, hold)
        self._hand_over(await self._store.write(self._book.open, opening, bulky=True), hold)
        return Opened(self._remember(await self._get(terms.match)), token)

    async def find(self, match_id: str) -> StoredMatch | None:
        """The match as it stands now: one that has expired is closed first."""
        match = await self._read(match_id)
        if match is not None and match.is_due(self._patient_clock()):
            await self._close(match, Forfeit.EXPIRED)
            return await self._read(match_id)
        return match

    async def last_seen(self, match_id: str) -> StoredMatch | None:
        """The match as this process saw it last, or else as it stands now: what `deal` and `play` need."""
        match = self._seen.get(match_id)
        return await self.find(match_id) if match is None or match.is_due(self._patient_clock()) else match

    async def deal(self, match: StoredMatch, client_seed: bytes, statement: Event) -> StoredMatch:
        """Deal a match that `last_seen` gave; one that was dealt with this seed is given as it is now.

        Raises:
            AlreadyDealt: it was dealt with another seed.
            MatchOver: it lapsed before the deal.
            InvalidStatement: the player's key did not sign this.
            StoreUnavailable: the database does not take it.
        """
        while match.client_seed is None:
            if not match.state.is_open:
                raise MatchOver("the match has lapsed: nothing was dealt in time")
            fault = statement_fault(
                statement,
                terms=match.terms,
                commitment_event=match.commitment_event.id,
                commitment=match.commitment,
                client_seed=client_seed,
            )
            if fault is not None:
                raise InvalidStatement(fault)
            deal = Deal(match.terms.match, client_seed, statement)
            due = await self._store.write(self._book.deal, deal)
            if due is not None:
                return self._remember(match.dealt(client_seed, statement, due))
            match = await self._get(match.terms.match)  # it has gone on elsewhere
        if match.client_seed != client_seed:
            raise AlreadyDealt("the match was dealt with another seed")
        return await self._get(match.terms.match)  # it may have gone on since it was seen

    async def play(self, match: StoredMatch, ply: int, card: Card) -> StoredMatch:
        """Play a card in a match that `last_seen` gave, and have the computer answer.

        A play that was made before stands, and the match as it is now comes back.

        Raises:
            NotDealt, MatchOver: there is nothing to play on.
            WrongPly: the ply was played otherwise, or is not due.
            GameOver: every card is played.
            CardNotInHand: the player does not hold the card.
            TooManyThinking: nothing was played.
            StoreUnavailable: the database does not take it.
        """
        fresh = False
        while True:
            hand = after = None
            try:
                hand = _playable(match, ply)
                after = hand.play(ply, card)
            except (NotNow, WrongPly, IllegalAction):
                if fresh:
                    raise  # else it may have gone on elsewhere
            if after is not None and after is not hand:
                if (written := await self._write(match, await self._thinking.answer(after))) is not None:
                    return written
            elif fresh:
                return match
            match, fresh = await self._get(match.terms.match), True

    async def resign(self, match: StoredMatch) -> StoredMatch:
        """Give up a match that `find` gave; one that is over stays as it is.

        Raises:
            ClockBehind: nothing can be signed now.
            StoreUnavailable: the database does not take it.
        """
        await self._close(match, Forfeit.RESIGNED)
        return await self._get(match.terms.match)

    async def transcript(self, match_id: str) -> str | None:
        """The event that holds the transcript, as JSON text; None while there is none."""
        return await self._store.read(lambda connection: find_transcript(connection, match_id))

    async def sweep(self) -> None:
        """Close what has expired and publish what had to wait, again and again until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            try:
                await self.sweep_once()
            except StoreError as error:
                log.error("%s; matches that have expired are closed later", error)

    async def sweep_once(self) -> None:
        """Close what has expired by now, and publish what had to wait until now."""
        now = self._patient_clock()
        for match_id in await self._store.read(partial(due_matches, now=now)):
            try:
                match = await self._read(match_id)
                if match is not None:
                    await self._close(match, Forfeit.EXPIRED)
            except StoreError:
                raise
            except Exception:
                log.exception("the match %s could not be closed; others are", match_id)

    async def _close(self, match: StoredMatch, forfeit: Forfeit) -> None:
        hold = self._engine.accepting()
        ending = Ending(match.terms.match, forfeit, identifier(match.terms.username), hold)
        try:
            self._hand_over(await self._store.write(self._book.close, ending, bulky=True), hold)
        except Refused:
            if forfeit is Forfeit.RESIGNED:
                raise
            # It is closed once the clock is right again.
        self._seen.pop(match.terms.match, None)

    async def _write(self, match: StoredMatch, after: Match) -> StoredMatch | None:
        """The match with the plays of `after`; None if it is no longer what they were made for."""
        before = match.cards
        step = Step(
            match.terms.match,
            before,
            tuple(ply.card for ply in after.plays[len(before) :]),
            replace(match, hand=after) if after.is_over else None,
            identifier(match.terms.username),
            self._engine.accepting(),
        )
        written = await self._store.write(self._book.play, step, bulky=step.over is not None)
        self._seen.pop(match.terms.match, None)
        if written is None:
            return None
        if written.closed is not None:
            self._hand_over(written.published, step.hold)
            return written.closed
        return self._remember(replace(match, hand=after, due=written.due))

    def _remember(self, match: StoredMatch) -> StoredMatch:
        self._seen[match.terms.match] = match
        self._seen.move_to_end(match.terms.match)
        if len(self._seen) > SEEN:
            self._seen.popitem(last=False)
        return match

    async def _read(self, match_id: str) -> StoredMatch | None:
        return await self._store.read(lambda connection: find_match(connection, match_id))

    async def _get(self, match_id: str) -> StoredMatch:
        match = await self._read(match_id)
        if match is None:
            raise LookupError(f"the match {match_id} is no longer in the store")
        return match

    def _hand_over(self, published: Published, hold: frozenset[str]) -> None:
        for signed in published:
            hand_over(self._engine, signed, hold)


def _playable(match: StoredMatch, ply: int) -> Match:
    """The hand, if there is one that could be played on, or was played so far; raises NotNow."""
    hand = match.hand
    if hand is None:
        raise NotDealt("nothing is dealt yet") if match.state.is_open else MatchOver("the match has lapsed")
    if match.forfeit is not None and ply >= hand.next_ply:
        raise MatchOver(f"the match {match.forfeit.told}")
    return hand
