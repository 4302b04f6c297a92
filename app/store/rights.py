"""What is checked of a principal in the transaction that signs: its key, the name, what it left unplayed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from app.store import api_keys
from app.store.matches import nth_abandoned
from app.store.refusals import KeyRevoked, MatchesAbandoned, NameBanned, NameTaken

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

    from app.principal import Principal
    from app.store.cursor import Cursor, Later
    from app.store.names import Name

ABANDONED_LIMIT = 200
"""Matches of one player that are not played to their end, within a day; each is an event on every relay."""

ABANDONED_SECONDS = 86_400


def ask_active_keys(cursor: Cursor, principals: Iterable[Principal | None]) -> Later[set[str]]:
    """The ids of those API keys among the principals that are not revoked."""
    return api_keys.ask_active_keys(cursor, {p.key_id for p in principals if p and p.key_id})


def check_key(principal: Principal | None, active: set[str]) -> None:
    """Check the API key of a principal, if it is one's.

    Raises:
        KeyRevoked: it is not among the active ones.
    """
    if principal and principal.key_id and principal.key_id not in active:
        raise KeyRevoked


def check_name(name: Name | None, d: str, principal: Principal | None) -> bool:
    """Whether nobody owns the name `d` yet; `name` is what the store holds of it.

    Raises:
        NameBanned, NameTaken: if the principal may not publish it.
    """
    if name is None:
        return True
    if name.banned:
        raise NameBanned(d)
    if principal and name.owner != principal.id and not principal.may_publish_any:
        raise NameTaken(d)
    return False


def check_abandoned(connection: Connection, principal: Principal, now: float) -> None:
    """Check that a player may open one more match; an API key opens them for thousands of players.

    Raises:
        MatchesAbandoned: it has opened too many lately and not played them to their end.
    """
    if principal.key_id is None:
        opened = nth_abandoned(connection, principal.id, ABANDONED_LIMIT)
        if opened is not None and (wait := math.ceil(opened + ABANDONED_SECONDS - now)) > 0:
            raise MatchesAbandoned(wait)
