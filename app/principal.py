"""Whoever a call is made for, however they proved who they are."""

from __future__ import annotations

from dataclasses import dataclass

PUBLISH_ANY = "publish:any"
ADMIN = "admin"
SCOPES = (PUBLISH_ANY, ADMIN)

KEY = "key:"


def key_id_of(principal_id: str) -> str | None:
    """The id of the API key that this principal is, None if it is something else."""
    return principal_id.removeprefix(KEY) if principal_id.startswith(KEY) else None


@dataclass(frozen=True, slots=True)
class Principal:
    """Whoever a call is made for.

    Attributes:
        id: stable and unique over every way to sign in, and what owns a name: `key:ID` for an API key,
            `nostr:PUBKEY` (hex) for a Nostr key, `jwt:ISS|SUB` for an account at an identity provider.
        key_id: the API key's id; that it is still good is checked in the transaction that signs.
        scopes: what an API key may do.
        names: the `d`s that an API key is limited to; None for no limit.
        username: the one name that an account at an identity provider may publish, spelled so.
    """

    id: str
    key_id: str | None = None
    scopes: frozenset[str] = frozenset()
    names: frozenset[str] | None = None
    username: str | None = None

    @property
    def may_publish_any(self) -> bool:
        """Whether names that others own may be published too; that does not take them."""
        return PUBLISH_ANY in self.scopes

    @property
    def is_admin(self) -> bool:
        """Whether scores of others may be deleted."""
        return ADMIN in self.scopes
