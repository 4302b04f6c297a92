"""Whole matches made by `app` itself, as the service makes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from app.matches.commitment import Secrets, Terms, commitment
from app.matches.match import Match, Side
from app.matches.opening import sign_commitment, sign_statement
from app.matches.transcript import Forfeit, Transcript, sign_transcript
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score

if TYPE_CHECKING:
    from app.nostr.event import Event

APP = SecretKey.parse(f"{3:064x}")
PLAYER = SecretKey.parse(f"{5:064x}")
NOW = 1_760_000_000


@dataclass(frozen=True)
class Made:
    transcript: Transcript
    match: Match

    @property
    def event(self) -> Event:
        return sign_transcript(APP, self.transcript, NOW + 91)

    def changed(self, **fields: Any) -> Event:
        """The app's own word for a transcript in which these fields are others."""
        return sign_transcript(APP, replace(self.transcript, **fields), NOW + 91)


def terms(level: str = "normal", username: str = "alice") -> Terms:
    return Terms("0123456789abcdef" * 2, PLAYER.pubkey, username, level)


def played(match: Match, plies: int = 40) -> Match:
    """The match with the player's first card each time, up to that many plies."""
    while match.next_ply <= plies and not match.is_over:
        if match.to_move is Side.PLAYER:
            match = match.play(match.next_ply, match.observation.hand[0])
        else:
            match = match.after(match.choice())
    return match


def made(
    level: str = "normal", *, username: str = "alice", plies: int = 40, hidden: Secrets | None = None
) -> Made:
    on = terms(level, username)
    hidden = hidden or Secrets(b"\1" * 32, b"\2" * 32)
    client_seed = b"\3" * 32
    committed = commitment(on, hidden)
    opening = sign_commitment(APP, terms=on, commitment=committed, created_at=NOW)
    statement = sign_statement(
        PLAYER,
        terms=on,
        commitment_event=opening.id,
        commitment=committed,
        client_seed=client_seed,
        created_at=NOW + 1,
    )
    match = played(Match.deal(on, hidden.server_seed, client_seed), plies)
    score = None
    if match.is_over:
        score = sign_score(APP, username=username, score=match.points.player, created_at=NOW + 90)
    forfeit = None if match.is_over else Forfeit.RESIGNED
    transcript = Transcript(
        terms=on,
        commitment=committed,
        commitment_event=opening,
        secrets=hidden,
        client_seed=client_seed,
        statement=statement,
        plays=match.plays,
        points=match.points,
        forfeit=forfeit,
        score_event=score,
    )
    return Made(transcript, match)
