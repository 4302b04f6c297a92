"""Callers with a token of the configured identity provider: a signed JWT (RFC 7519, RFC 8725)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jwt

from app.jwt_trust import InvalidJwt
from app.principal import Principal

if TYPE_CHECKING:
    from app.jwt_trust import JwtTrust
    from app.web.jwks import KeySet

# Signatures by public keys alone: with a shared secret whoever checks tokens could make them.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
# Seconds by which the provider's clock may differ from ours.
LEEWAY = 60
_OPTIONS: Any = {"require": ["exp", "iss", "aud", "sub"], "enforce_minimum_key_length": True}


class JwtTokens:
    """Finds the principal of a token.

    Args:
        trust: whose tokens are accepted.
        keys: the provider's keys.
    """

    def __init__(self, trust: JwtTrust, keys: KeySet) -> None:
        self._trust = trust
        self._keys = keys

    async def principal(self, token: str) -> Principal:
        """Whose token this is.

        Raises:
            InvalidJwt: it is not accepted.
            KeysUnavailable: its key is not known, and the provider does not answer.
        """
        key_id, algorithm = _header(token)
        key = await self._keys.key(key_id, algorithm)
        if key is None:
            raise InvalidJwt("it is signed with a key that the identity provider does not publish")
        try:
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                issuer=self._trust.issuer,
                audience=self._trust.audience,
                leeway=LEEWAY,
                options=_OPTIONS,
            )
        except jwt.PyJWTError as error:
            raise InvalidJwt(_one_sentence(error)) from None
        subject = claims["sub"]
        if not subject or not subject.isprintable():
            raise InvalidJwt("its subject is empty or not printable")
        username = claims.get(self._trust.username_claim)
        if not isinstance(username, str) or not username:
            raise InvalidJwt(f"its claim {self._trust.username_claim!r} holds no username")
        return Principal(f"jwt:{self._trust.issuer}|{subject}", username=username)


def _header(token: str) -> tuple[str | None, str]:
    """Key id and algorithm, neither of which is to be believed yet."""
    try:
        header = jwt.get_unverified_header(token)
    except (jwt.PyJWTError, RecursionError):
        raise InvalidJwt("its header cannot be read") from None
    algorithm = header.get("alg")
    if algorithm not in ALGORITHMS:
        raise InvalidJwt(f"its algorithm is none of {', '.join(ALGORITHMS)}")
    return header.get("kid"), algorithm


def _one_sentence(error: Exception) -> str:
    text = str(error).strip().rstrip(".")
    return text[:1].lower() + text[1:]
