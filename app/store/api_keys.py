"""API keys of game servers: shown once, kept as a hash."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from app.principal import PUBLISH_ANY
from app.store.cursor import Cursor, Later, cursor_of
from app.store.tables import api_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection, Row

_PREFIX = "bsk"


class NoSuchKey(LookupError):
    """No API key has this id."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key once it has been made.

    Attributes:
        created_at: unix seconds.
        revoked_at: unix seconds, or None while the key is good.
        names: the `d`s that it may publish or delete; None for no limit.
    """

    id: str
    name: str
    scopes: tuple[str, ...]
    created_at: int
    revoked_at: int | None
    names: tuple[str, ...] | None = None


_SELECT_ACTIVE = "SELECT id FROM api_key WHERE revoked_at IS NULL AND id IN (SELECT value FROM each(?))"


def add_key(
    connection: Connection,
    name: str,
    *,
    now: float,
    scopes: Sequence[str] = (PUBLISH_ANY,),
    names: Iterable[str] | None = None,
) -> tuple[ApiKey, str]:
    """Make a key.

    Args:
        name: what the operator calls it.
        now: unix seconds.
        scopes: what it may do; without any, it publishes like a player.
        names: the `d`s that it is limited to; None for no limit.

    Returns:
        What is kept of it, and the key itself, which nobody can show again.
    """
    key_id = secrets.token_hex(8)
    text = f"{_PREFIX}_{key_id}_{secrets.token_urlsafe(32)}"
    kept = None if names is None else tuple(sorted(set(names)))
    made = ApiKey(key_id, name, tuple(scopes), int(now), None, kept)
    connection.execute(
        insert(api_key).values(
            id=key_id,
            name=name,
            scopes=" ".join(made.scopes),
            names=None if kept is None else " ".join(kept),
            hash=_hash(text),
            created_at=made.created_at,
            revoked_at=None,
        )
    )
    return made, text


def list_keys(connection: Connection) -> list[ApiKey]:
    """Every key, oldest first."""
    rows = connection.execute(select(api_key).order_by(api_key.c.created_at, api_key.c.id))
    return [_read(row) for row in rows]


def revoke_key(connection: Connection, key_id: str, *, now: float) -> None:
    """Revoke a key; revoking it again changes nothing.

    Raises:
        NoSuchKey: if there is none with this id.
    """
    require_key(connection, key_id)
    cursor_of(connection).lock([f"key {key_id}"])
    connection.execute(
        update(api_key)
        .where(api_key.c.id == key_id, api_key.c.revoked_at.is_(None))
        .values(revoked_at=int(now))
    )


def require_key(connection: Connection, key_id: str) -> None:
    """Check that there is a key with this id, good or revoked.

    Raises:
        NoSuchKey: if there is none.
    """
    found = select(api_key.c.id).where(api_key.c.id == key_id)
    if not key_id.isascii() or connection.execute(found).first() is None:
        raise NoSuchKey(f"no API key has the id {key_id!r}: see `briscola-scores key list`")


def find_key(connection: Connection, text: str) -> ApiKey | None:
    """The key that `text` is, good or revoked; None if it is none of ours.

    The hash is compared in constant time, and compared also where no key has the id.
    """
    parts = text.split("_", 2)
    if len(parts) != 3 or parts[0] != _PREFIX or not (text.isascii() and text.isprintable()):
        return None
    row = connection.execute(select(api_key).where(api_key.c.id == parts[1])).first()
    kept = row.hash if row else _hash("")
    if not hmac.compare_digest(kept, _hash(text)) or row is None:
        return None
    return _read(row)


def ask_active_keys(cursor: Cursor, ids: set[str]) -> Later[set[str]]:
    """Those of `ids` that are not revoked, nor will be before this transaction ends."""
    if not ids:
        return set
    cursor.lock_shared(f"key {key_id}" for key_id in ids)
    rows = cursor.ask(_SELECT_ACTIVE, list(ids))
    return lambda: {key_id for (key_id,) in rows()}


def _read(row: Row[tuple[object, ...]]) -> ApiKey:
    names = None if row.names is None else tuple(row.names.split())
    return ApiKey(row.id, row.name, tuple(row.scopes.split()), row.created_at, row.revoked_at, names)


def _hash(text: str) -> str:
    # The key has 256 random bits, so a plain hash is as good as a slow one.
    return hashlib.sha256(text.encode()).hexdigest()
