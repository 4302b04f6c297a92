"""A match book on a database, called without a service around it, and the one who plays its matches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from app.matches.commitment import Secrets, Terms, commitment
from app.matches.match import Match, Side
from app.matches.opening import sign_commitment, sign_statement
from app.matches.transcript import sign_transcript
from app.nostr.keys import SecretKey
from app.scores.score_event import identifier, sign_deletion, sign_score
from app.store import holders
from app.store.journal import Journal
from app.store.ledger import Ledger
from app.store.match_book import MatchBook
from app.store.match_steps import Deal, Ending, Opening, Step
from app.store.matches import StoredMatch, Tally, find_match, find_transcript, tally_of
from app.store.outbox import register_relays
from tests.store.players import RELAYS, SECRET, player

if TYPE_CHECKING:
    from app.matches.transcript import Forfeit
    from app.principal import Principal
    from app.store.database import Database
    from tests.clock import Clock

NOW = 1_700_000_000
EXPIRY = 3600
PLAYER = SecretKey.parse(f"{5:064x}")
ALICE = player(5)
HIDDEN = Secrets(b"\1" * 32, b"\2" * 32)
CLIENT_SEED = b"\3" * 32


@dataclass
class Table:
    """A match book on a database, and the one who plays."""

    database: Database
    clock: Clock
    best: bool = False
    publishes: bool = True
    ledger: Ledger = field(init=False)
    book: MatchBook = field(init=False)

    def __post_init__(self) -> None:
        with self.database.writer.begin() as connection:
            holder = holders.register(connection, self.clock())
            journal = Journal(register_relays(connection, RELAYS), holder)
        self.ledger = Ledger(
            sign=lambda c, at: sign_score(SECRET, username=c.username, score=c.score, created_at=at),
            sign_deletion=lambda d, at: sign_deletion(SECRET, d=d, created_at=at),
            journal=journal,
            only_improvements=self.best,
            clock=self.clock,
        )
        self.book = MatchBook(
            sign_commitment=lambda terms, committed, at: sign_commitment(
                SECRET, terms=terms, commitment=committed, created_at=at
            ),
            sign_transcript=lambda transcript, at: sign_transcript(SECRET, transcript, at),
            ledger=self.ledger,
            journal=journal,
            expiry=EXPIRY,
            publishes=self.publishes,
            clock=self.clock,
            patient_clock=self.clock,
        )

    def open(
        self, match_id: str, who: Principal = ALICE, level: str = "sharp", name: str = "Alice"
    ) -> object:
        terms = Terms(match_id, PLAYER.pubkey, name, level)
        opening = Opening(terms, HIDDEN, commitment(terms, HIDDEN), "t" * 64, who, frozenset())
        with self.database.writer.begin() as connection:
            (answer,) = self.book.open(connection, [opening])
        return answer

    def deal(self, match_id: str, seed: bytes = CLIENT_SEED) -> bool:
        found = self.find(match_id)
        statement = sign_statement(
            PLAYER,
            terms=found.terms,
            commitment_event=found.commitment_event.id,
            commitment=found.commitment,
            client_seed=seed,
            created_at=NOW,
        )
        with self.database.writer.begin() as connection:
            (due,) = self.book.deal(connection, [Deal(match_id, seed, statement)])
        return due is not None

    def step(self, match_id: str, hand: Match | None = None) -> tuple[Match, object]:
        """One play of the player's, its first card, with the answer to it, onto `hand` or what is stored."""
        found = self.find(match_id)
        hand = hand or found.hand
        assert hand is not None
        assert hand.to_move is Side.PLAYER
        after = hand.play(hand.next_ply, hand.observation.hand[0]).reply()
        cards = tuple(ply.card for ply in after.plays)
        before = len(hand.plays)
        over = replace(found, hand=after) if after.is_over else None
        step = Step(match_id, cards[:before], cards[before:], over, self.d(match_id), frozenset())
        with self.database.writer.begin() as connection:
            (answer,) = self.book.play(connection, [step])
        return after, answer

    def play_to_end(self, match_id: str) -> Match:
        while True:
            hand, answer = self.step(match_id)
            assert answer is not None
            if hand.is_over:
                return hand

    def close(self, match_id: str, forfeit: Forfeit) -> object:
        with self.database.writer.begin() as connection:
            (answer,) = self.book.close(
                connection, [Ending(match_id, forfeit, self.d(match_id), frozenset())]
            )
        return answer

    def find(self, match_id: str) -> StoredMatch:
        with self.database.reader.begin() as connection:
            found = find_match(connection, match_id)
        assert found is not None
        return found

    def d(self, match_id: str) -> str:
        return identifier(self.find(match_id).terms.username)

    def transcript(self, match_id: str) -> str | None:
        with self.database.reader.begin() as connection:
            return find_transcript(connection, match_id)

    def tally(self) -> Tally:
        with self.database.reader.begin() as connection:
            return tally_of(connection, "alice")

    def count(self, kind: int) -> int:
        with self.database.reader.begin() as connection:
            query = f"SELECT count(*) FROM event WHERE kind = {kind}"
            return int(connection.exec_driver_sql(query).scalar_one())

    def deliveries(self, kind: int) -> int:
        with self.database.reader.begin() as connection:
            query = f"SELECT count(*) FROM delivery JOIN event ON seq = event_seq WHERE kind = {kind}"
            return int(connection.exec_driver_sql(query).scalar_one())
