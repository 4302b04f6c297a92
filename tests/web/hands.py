"""A player at the door of the service: opens a match with a Nostr key, deals and plays it over HTTP."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from app.matches.commitment import Terms
from app.matches.opening import sign_statement
from app.nostr.keys import SecretKey
from app.nostr.nip98 import sign_call
from tests.service import PUBLIC_URL

if TYPE_CHECKING:
    import httpx

PLAYER = SecretKey.parse(f"{5:064x}")
OTHER = SecretKey.parse(f"{7:064x}")
CLIENT_SEED = bytes(range(32))


async def signed(
    http: httpx.AsyncClient, secret: SecretKey, method: str, path: str, body: object = None
) -> httpx.Response:
    """A call that a Nostr key signs."""
    raw = b"" if body is None else orjson.dumps(body)
    token = sign_call(secret, method=method, url=PUBLIC_URL + path, body=raw, created_at=int(time.time()))
    headers = {"Authorization": f"Nostr {token}", "Content-Type": "application/json"}
    return await http.request(method, path, content=raw, headers=headers)


def statement_of(
    match: dict[str, Any], secret: SecretKey = PLAYER, seed: bytes = CLIENT_SEED
) -> dict[str, Any]:
    """The player's word for a seed."""
    return sign_statement(
        secret,
        terms=Terms(match["id"], match["player"], match["username"], match["level"]),
        commitment_event=match["commitment_event"]["id"],
        commitment=match["commitment"],
        client_seed=seed,
        created_at=1_700_000_000,
    ).to_dict()


@dataclass
class Hand:
    """One match of a player.

    Attributes:
        match: the last answer.
        answers: the text of every answer, oldest first.
    """

    http: httpx.AsyncClient
    match: dict[str, Any]
    token: str
    answers: list[httpx.Response] = field(default_factory=list)

    @classmethod
    async def open(
        cls,
        http: httpx.AsyncClient,
        username: str = "alice",
        level: str = "sharp",
        secret: SecretKey = PLAYER,
    ) -> Hand:
        """Open a match."""
        body = {"username": username, "level": level, "variant": "two-player"}
        answer = await signed(http, secret, "POST", "/v1/matches", body)
        assert answer.status_code == 201, answer.text
        match = answer.json()
        return cls(http, match, match["token"], [answer])

    @property
    def path(self) -> str:
        """Of the match."""
        return f"/v1/matches/{self.match['id']}"

    async def call(self, method: str, path: str = "", body: object = None, **headers: str) -> httpx.Response:
        """A call that the token of the match allows."""
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        answer = await self.http.request(
            method, self.path + path, headers=sent, **({} if body is None else {"json": body})
        )
        self.answers.append(answer)
        if answer.status_code == 200 and not path.endswith("transcript"):
            self.match = answer.json()
        return answer

    async def deal(self, seed: bytes = CLIENT_SEED) -> httpx.Response:
        """Deal it."""
        body = {"client_seed": seed.hex(), "statement": statement_of(self.match, PLAYER, seed)}
        return await self.call("POST", "/deal", body)

    async def play(self, card: str | None = None, ply: int | None = None) -> httpx.Response:
        """Play a card; by default the first of the hand as the next ply."""
        body = {
            "card": card or self.match["observation"]["hand"][0],
            "ply": ply or self.match["next_ply"],
        }
        return await self.call("POST", "/plays", body)

    async def play_on(self, plays: int = 20) -> None:
        """Play so many cards of the player's, or until the hand is over."""
        for _ in range(plays):
            if self.match["next_ply"] is None:
                return
            answer = await self.play()
            assert answer.status_code == 200, answer.text
