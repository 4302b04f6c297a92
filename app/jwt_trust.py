"""The identity provider whose tokens sign players in, as the settings name it: all of it, or none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection

SETTINGS = (
    "BRISCOLA_JWT_ISSUER",
    "BRISCOLA_JWT_AUDIENCE",
    "BRISCOLA_JWT_JWKS_URL",
    "BRISCOLA_JWT_USERNAME_CLAIM",
)
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


class InvalidJwt(ValueError):
    """The token is not accepted; the message says why."""


class KeysUnavailable(Exception):
    """The provider's keys cannot be had now, so it cannot be told whether a token is good.

    Attributes:
        retry_after: seconds.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__("the keys of the identity provider cannot be had now")
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class JwtTrust:
    """Whose tokens are accepted.

    Attributes:
        issuer, audience: what the claims `iss` and `aud` must be.
        jwks_url: where the provider's public keys are.
        username_claim: the claim that names the player.
    """

    issuer: str
    audience: str
    jwks_url: str
    username_claim: str


def check_jwks_url(text: str) -> str:
    """Return the address of a key set.

    Raises:
        ValueError: if it is none.
    """
    try:
        parts = urlsplit(text)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("is no address: give one such as https://login.example/jwks.json")
    if parts.username is not None:
        raise ValueError("carries a user name, which logs would show: drop it")
    return text


def incomplete(given: Collection[str]) -> list[str]:
    """A fault for each setting that is missing beside the others."""
    there = [name for name in SETTINGS if name in given]
    return [
        f"{name}: is not set, but {there[0]} is: set all of {', '.join(SETTINGS)}, or none"
        for name in SETTINGS
        if there and name not in given
    ]


def unsafe(trust: JwtTrust | None) -> list[str]:
    """A warning for keys that come in the clear over a network."""
    parts = urlsplit(trust.jwks_url if trust else "")
    if parts.scheme != "http" or parts.hostname in _LOOPBACK:
        return []
    return [f"{SETTINGS[2]}: not encrypted: whoever is on the way can sign in as anybody: use https"]
