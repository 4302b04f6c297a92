"""Names and who owns them. A name is its `d`: every spelling of it is the same name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from app.store.cursor import Cursor, Insert, Later, cursor_of
from app.store.tables import name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection


class CannotChange(ValueError):
    """A name cannot be changed so; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name that somebody owns, or that is banned, or both.

    Attributes:
        owner: the id of a principal; None if nobody owned the name when it was banned.
        owned_since: unix seconds.
        banned: nobody may publish it, its owner included.
    """

    name: str
    owner: str | None
    owned_since: int | None
    banned: bool


_SELECT = "SELECT d, owner, owned_since, banned FROM name WHERE d IN (SELECT value FROM each(?))"
_INSERT = Insert("name", "d, owner, owned_since, banned")


def lock_names(ds: Iterable[str]) -> list[str]:
    """What a transaction locks that changes names or what stands under them."""
    return [f"name {d}" for d in ds]


def ask_names(cursor: Cursor, ds: set[str]) -> Later[dict[str, Name]]:
    """Those of the names that are owned or banned."""
    rows = cursor.ask(_SELECT, list(ds))
    return lambda: {d: Name(d, owner, since, bool(banned)) for d, owner, since, banned in rows()}


def write_owners(cursor: Cursor, names: Iterable[Name]) -> None:
    """Enter owners of names that nobody owned and nothing banned."""
    cursor.insert(_INSERT, [(n.name, n.owner, n.owned_since, n.banned) for n in names])


def list_names(connection: Connection) -> list[Name]:
    """Every name that is owned or banned, in order."""
    rows = connection.execute(select(name).order_by(name.c.d))
    return [Name(row.d, row.owner, row.owned_since, row.banned) for row in rows]


def transfer_name(connection: Connection, d: str, owner: str, *, now: float) -> Name | None:
    """Make a principal the owner of a name; one that nobody owns yet is kept for them.

    Returns:
        The name as it was before.

    Raises:
        CannotChange: if the name is banned.
    """
    before = _find(connection, d)
    if before is not None and before.banned:
        raise CannotChange(f"the name {d!r} is banned: `names release` lifts the ban, then transfer it")
    _write(connection, before, Name(d, owner, int(now), banned=False))
    return before


def release_name(connection: Connection, d: str) -> Name:
    """Let the next publisher of a name own it; this lifts a ban too.

    Returns:
        The name as it was before.

    Raises:
        CannotChange: if nobody owns it and nothing bans it.
    """
    before = _find(connection, d)
    if before is None:
        raise CannotChange(f"nobody owns the name {d!r} and it is not banned: there is nothing to release")
    connection.execute(delete(name).where(name.c.d == d))
    return before


def ban_name(connection: Connection, d: str) -> Name:
    """Let nobody publish a name; its owner stays on record. Banning it again changes nothing."""
    before = _find(connection, d)
    after = replace(before or Name(d, None, None, banned=True), banned=True)
    _write(connection, before, after)
    return after


def _find(connection: Connection, d: str) -> Name | None:
    cursor = cursor_of(connection)
    cursor.lock(lock_names({d}))
    return ask_names(cursor, {d})().get(d)


def _write(connection: Connection, before: Name | None, after: Name) -> None:
    values = {"owner": after.owner, "owned_since": after.owned_since, "banned": after.banned}
    if before is None:
        connection.execute(insert(name).values(d=after.name, **values))
    else:
        connection.execute(update(name).where(name.c.d == after.name).values(values))
