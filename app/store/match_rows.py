"""The row of a match, written: each step only onto the state that it was made for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.scores.score_event import identifier
from app.store.matches import MatchState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.cards import Card
    from app.store.cursor import Cursor
    from app.store.match_steps import Deal, Opening, Step
    from app.store.matches import StoredMatch

_INSERT = """
    INSERT INTO match (id, d, username, principal, any_name, player, level, token, server_seed, salt,
                       commitment, commitment_seq, state, due, plays)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT seq FROM event WHERE id = ?), ?, ?, '')
"""
_DEAL = f"""
    UPDATE match SET client_seed = ?, statement = ?, state = '{MatchState.PLAYING}', due = ?
    WHERE id = ? AND state = '{MatchState.COMMITTED}' RETURNING id
"""  # noqa: S608 - the states are constants
_PLAY = f"""
    UPDATE match SET plays = ?, due = ? WHERE id = ? AND state = '{MatchState.PLAYING}' AND plays = ?
    RETURNING id
"""  # noqa: S608 - the state is a constant
_CLOSE = """
    UPDATE match SET state = ?, due = ?, forfeit = ?, unpublished = ?,
    score_seq = (SELECT seq FROM event WHERE id = ?), transcript_seq = (SELECT seq FROM event WHERE id = ?)
    WHERE id = ?
"""


def open_match(cursor: Cursor, opening: Opening, commitment_event: str, due: float) -> None:
    """Add a match that was committed to in the event with this id."""
    terms, principal, secrets = opening.terms, opening.principal, opening.secrets
    cursor.run(
        _INSERT,
        *(terms.match, identifier(terms.username), terms.username, principal.id, principal.may_publish_any),
        *(terms.player, terms.level, opening.token, secrets.server_seed.hex(), secrets.salt.hex()),
        *(opening.commitment, commitment_event, MatchState.COMMITTED.value, due),
    )


def deal_match(cursor: Cursor, deal: Deal, due: float) -> bool:
    """Write the player's seed, if there is none yet; whether that is so."""
    return bool(cursor.fetch(_DEAL, deal.client_seed.hex(), deal.statement.to_json(), due, deal.match))


def play_match(cursor: Cursor, step: Step, due: float) -> bool:
    """Write cards onto those that they were played after; whether these are still the last."""
    cards = _text(step.before + step.cards)
    return bool(cursor.fetch(_PLAY, cards, due, step.match, _text(step.before)))


def close_match(cursor: Cursor, ended: StoredMatch) -> StoredMatch:
    """Write how a match has ended."""
    cursor.run(
        _CLOSE,
        *(ended.state.value, ended.due, ended.forfeit, ended.unpublished),
        *(ended.score, ended.transcript, ended.terms.match),
    )
    return ended


def _text(cards: Sequence[Card]) -> str:
    return " ".join(map(str, cards))
