"""How often somebody may call: per principal, per address of origin, and wrong sign-ins per address.

Identities cost nothing on Nostr, so a player's calls count on their address too. An API key is the operator's
own and posts for thousands of players, so its calls count on the key alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

from app.config_values import rates
from app.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from limits import RateLimitItem
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from app.config import WebSettings
    from app.principal import Principal
    from app.web.counters import Counters
    from app.web.origin import Origins

_PLAYER_RATE = "60/minute"

# Orchestrators ask these again and again from one address.
_UNCOUNTED = frozenset({"/healthz", "/readyz", "/metrics"})


@dataclass(frozen=True, slots=True)
class Rates:
    """What is allowed; no rate is no limit.

    Attributes:
        player: calls of one player; wrong sign-ins and costly calls of one address.
        key: calls of one API key.
        address: calls of one address that are not made with an API key.
    """

    player: tuple[RateLimitItem, ...]
    key: tuple[RateLimitItem, ...]
    address: tuple[RateLimitItem, ...]

    @classmethod
    def of(cls, settings: WebSettings) -> Self:
        """The rates that the settings name."""
        given = settings.rate_limit
        return cls(
            player=rates(given or _PLAYER_RATE),
            key=rates(settings.rate_limit_per_key or given or "off"),
            address=rates(settings.rate_limit_per_address),
        )


class Limits:
    """Counts calls and refuses those that are too many."""

    def __init__(self, rates: Rates, counters: Counters, origins: Origins) -> None:
        self._rates = rates
        self._counters = counters
        self._origins = origins

    def origin(self, scope: Scope) -> str:
        """The address that a call counts on."""
        return self._origins.of(scope)

    async def count_address(self, scope: Scope) -> None:
        """Count a call on its address of origin.

        Raises:
            Problem: 429, if there were too many.
        """
        if self._rates.address:
            wait = await self._counters.hit(self._rates.address, "address", self._origins.of(scope))
            if wait is not None:
                raise _too_many(wait, "Too many calls came from your address")

    async def count_principal(self, principal: Principal) -> None:
        """Count a call on whoever makes it; raises like `count_address`."""
        rates = self._rates.key if principal.key_id is not None else self._rates.player
        if rates:
            wait = await self._counters.hit(rates, "principal", principal.id)
            if wait is not None:
                raise _too_many(wait, "You made too many calls")

    async def count_work(self, scope: Scope) -> None:
        """Count a call that costs much and needs no sign-in on its address; raises like `count_address`."""
        if self._rates.player:
            wait = await self._counters.hit(self._rates.player, "work", self._origins.of(scope))
            if wait is not None:
                raise _too_many(wait, "Too many such calls came from your address")

    async def count_wrong_sign_in(self, scope: Scope) -> None:
        """Count a sign-in that failed on its address of origin; raises like `count_address`."""
        if self._rates.player:
            wait = await self._counters.hit(self._rates.player, "sign-in", self._origins.of(scope))
            if wait is not None:
                raise _too_many(wait, "Too many sign-ins from your address failed: correct the credentials")


def _too_many(wait: int, what: str) -> Problem:
    return Problem("rate-limited", f"{what}; try again in {wait} s.", headers={"Retry-After": str(wait)})


class SignIn(Protocol):
    """Tells who makes a call."""

    async def principal(self, request: Request) -> Principal:
        """Whoever makes this call; raises a Problem with the status 401 if nobody we know."""


class LimitedSignIn:
    """A sign-in whose outcome counts: who signed in, or that it went wrong.

    A wrong sign-in never keeps a right one from the same address out, because players share addresses.
    """

    def __init__(self, sign_in: SignIn, limits: Limits) -> None:
        self._sign_in = sign_in
        self._limits = limits

    async def principal(self, request: Request) -> Principal:
        """Whoever makes this call.

        Raises:
            Problem: 401 if nobody we know, 429 if they, or wrong sign-ins from their address, were too many.
        """
        try:
            principal = await self._sign_in.principal(request)
        except Problem as problem:
            if problem.status == 401 and "authorization" in request.headers:
                await self._limits.count_wrong_sign_in(request.scope)
            raise
        await self._limits.count_principal(principal)
        return principal


class LimitAddresses:
    """ASGI middleware that counts every call on its address, but for those of API keys that were seen before.

    Args:
        knows: whether the value of an Authorization header is a good API key, told without looking it up.
        public_url: what a problem's type begins with.
    """

    def __init__(self, app: ASGIApp, limits: Limits, knows: Callable[[str], bool], public_url: str) -> None:
        self._app = app
        self._limits = limits
        self._knows = knows
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count, then pass the call on or answer it with 429."""
        if scope["type"] == "http" and scope["path"] not in _UNCOUNTED and not self._is_known_key(scope):
            try:
                await self._limits.count_address(scope)
            except Problem as problem:
                await problem.response(self._public_url)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _is_known_key(self, scope: Scope) -> bool:
        for name, value in scope["headers"]:
            if name == b"authorization":
                return self._knows(value.decode("latin-1"))
        return False
