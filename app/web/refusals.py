"""What the ledger refuses, as problems."""

from __future__ import annotations

from app.store.refusals import (
    ClockBehind,
    KeyReused,
    KeyRevoked,
    MatchesAbandoned,
    MatchUnfinished,
    NameBanned,
    NameTaken,
    NothingToDelete,
    NotOwner,
    Refused,
    TooFast,
)
from app.web.auth import BEARER_REFUSED, unauthenticated
from app.web.problems import Problem

_SLUGS: dict[type[Refused], str] = {
    NameTaken: "name-taken",
    NameBanned: "name-banned",
    NotOwner: "forbidden",
    KeyReused: "idempotency-key-reused",
}


def problem_of(refusal: Refused) -> Problem:
    """The problem that tells a client of a refusal."""
    detail = f"{str(refusal)[0].upper()}{str(refusal)[1:]}."
    match refusal:
        case KeyRevoked():
            return unauthenticated(detail, BEARER_REFUSED)
        case TooFast():
            return Problem("too-fast", detail, headers={"Retry-After": str(refusal.retry_after)})
        case ClockBehind():
            return Problem("clock-behind", detail, headers={"Retry-After": str(refusal.seconds)})
        case MatchesAbandoned():
            return Problem("matches-abandoned", detail, headers={"Retry-After": str(refusal.retry_after)})
        case MatchUnfinished():
            return Problem("match-unfinished", detail, members={"match": refusal.match})
        case NothingToDelete(deleted_at=None):
            return Problem("not-found", detail)
        case NothingToDelete():
            return Problem("score-deleted", detail, members={"deleted_at": refusal.deleted_at})
        case _:
            return Problem(_SLUGS[type(refusal)], detail)
