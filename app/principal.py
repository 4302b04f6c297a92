"""Whoever a call is made for, however they proved who they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever a call is made for.

    Attributes:
        id: stable and unique over every way to sign in: `key:ID` for an API key.
        key_id: the API key's id; that it is still good is checked in the transaction that signs.
        scopes: what an API key may do.
    """

    id: str
    key_id: str | None = None
    scopes: frozenset[str] = frozenset()
