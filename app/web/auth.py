"""Who is calling: one door for API keys, tokens of an identity provider, and calls signed by a Nostr key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.jwt_trust import InvalidJwt, KeysUnavailable
from app.nostr import nip98
from app.store.seen_tokens import TokenUsed
from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.principal import Principal
    from app.web.api_keys import ApiKeyCallers
    from app.web.jwt_tokens import JwtTokens
    from app.web.signed_calls import SignedCalls

_REALM = 'realm="briscola-scores"'
BEARER = f"Bearer {_REALM}"
BEARER_REFUSED = f'{BEARER}, error="invalid_token"'
NOSTR = f"{nip98.SCHEME} {_REALM}"
_HOW = (
    "send `Authorization: Bearer KEY` with an API key or a token, "
    "or `Authorization: Nostr TOKEN` signed with your own key (NIP-98)."
)


class Authenticator:
    """Finds the principal of a call.

    Args:
        jwt_tokens: None where no identity provider is configured.
    """

    def __init__(
        self, api_keys: ApiKeyCallers, signed_calls: SignedCalls, jwt_tokens: JwtTokens | None
    ) -> None:
        self._api_keys = api_keys
        self._signed_calls = signed_calls
        self._jwt_tokens = jwt_tokens

    def knows(self, header: str) -> bool:
        """Whether this Authorization header is an API key that was found before."""
        scheme, _, token = header.partition(" ")
        return scheme.lower() == "bearer" and self._api_keys.knows(token.strip(" "))

    async def principal(self, request: Request) -> Principal:
        """Who makes this call.

        Raises:
            Problem: 401 with a challenge and the reason; 503 while the keys of the identity provider cannot
                be had; 413 if the body of a signed call is too large.
            StoreUnavailable: the database does not answer.
        """
        header = request.headers.get("authorization")
        if header is None:
            raise unauthenticated(f"No credentials were sent: {_HOW}")
        scheme, _, token = header.partition(" ")
        token = token.strip(" ")  # no more: str.strip would take characters that no token may have
        if token and token.isascii():
            match scheme.lower():
                case "bearer":
                    return await self._bearer(token)
                case "nostr":
                    return await self._signed(request, token)
        raise unauthenticated(f"The Authorization header is malformed: {_HOW}")

    async def _bearer(self, token: str) -> Principal:
        if self._jwt_tokens is not None and _looks_like_jwt(token):
            try:
                return await self._jwt_tokens.principal(token)
            except InvalidJwt as error:
                raise unauthenticated(f"The token is not accepted: {error}.", BEARER_REFUSED) from None
            except KeysUnavailable as error:
                raise Problem(
                    "identity-provider-unavailable", headers={"Retry-After": str(error.retry_after)}
                ) from None
        principal = await self._api_keys.principal(token)
        if principal is None:
            raise unauthenticated(
                "The API key is unknown or revoked: ask the operator for a key.", BEARER_REFUSED
            )
        return principal

    async def _signed(self, request: Request, token: str) -> Principal:
        try:
            return await self._signed_calls.principal(request, token)
        except (nip98.InvalidToken, TokenUsed) as error:
            raise unauthenticated(f"The signed call is not accepted: {error}.", NOSTR) from None


def unauthenticated(detail: str, challenge: str = f"{BEARER}, {NOSTR}") -> Problem:
    """A 401 with the challenge that tells clients how to authenticate."""
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": challenge})


def _looks_like_jwt(token: str) -> bool:
    """Whether a bearer token has the three parts of a signed JWT; no API key has."""
    return token.count(".") == 2
