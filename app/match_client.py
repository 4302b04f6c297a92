"""Playing matches of the service from Python.

async with Client("https://scores.example", player_key=KEY) as client:
    match = await RemoteMatch.open(client, KEY, "alice", "sharp")
    await match.deal()
    while match.is_open:
        await match.play(choose(match.observation))
    print(match.outcome.points, await match.transcript())
"""

from __future__ import annotations

import secrets
import time
from typing import TYPE_CHECKING, Any

import orjson

from app.briscola.action import parse_action
from app.briscola.cards import Suit, parse_card
from app.briscola.errors import BriscolaError
from app.briscola.game import Outcome
from app.briscola.observation import Observation, Public
from app.briscola.shuffle import SEED_BYTES
from app.briscola.two_player import TwoPlayer
from app.client import ClientError, Refused, UnexpectedAnswer
from app.client_auth import Bearer
from app.matches.commitment import VARIANT, Terms
from app.matches.match import Points, Side
from app.matches.opening import sign_statement
from app.matches.transcript import Forfeit

if TYPE_CHECKING:
    from app.briscola.cards import Card
    from app.client import Client
    from app.nostr.keys import SecretKey

_OPEN = ("committed", "playing")
_NOT_HERE = ("wrong-ply", "match-over")
_SUITS = {suit.letter: suit for suit in Suit}


class WentOn(ClientError):
    """The hand was played on elsewhere, or has ended meanwhile; the match is now as the service has it."""


class RemoteMatch:
    """A match that is played on a service.

    Attributes:
        resumed: whether it was begun before, and only gone on with.
    """

    def __init__(
        self, client: Client, player_key: SecretKey, document: dict[str, Any], *, resumed: bool = False
    ) -> None:
        self._client = client
        self._player_key = player_key
        self._document = document
        self.resumed = resumed
        # Without the token, which only the first answer holds, the player's key signs each call.
        token = document.get("token")
        self._auth = Bearer(token) if isinstance(token, str) else None

    @classmethod
    async def open(cls, client: Client, player_key: SecretKey, username: str, level: str) -> RemoteMatch:
        """Open a match, or go on with the one that is not finished.

        Args:
            player_key: the same that the client was made for.

        Raises:
            ClientError: see `app.client`.
        """
        body = {"username": username, "level": level, "variant": VARIANT}
        try:
            answer = await client.call("POST", "/v1/matches", body=body, repeatable=False)
        except Refused as refused:
            if refused.slug != "match-unfinished":
                raise
            answer = await client.call("GET", f"/v1/matches/{refused.document.get('match')}")
            return cls(client, player_key, _read(answer), resumed=True)
        return cls(client, player_key, _read(answer))

    @property
    def id(self) -> str:
        """The match id."""
        return str(self._document["id"])

    @property
    def is_open(self) -> bool:
        """Whether it is still to be played."""
        return self._document["state"] in _OPEN

    @property
    def is_dealt(self) -> bool:
        """Whether the cards are dealt."""
        return self._document["observation"] is not None

    @property
    def observation(self) -> Observation:
        """What the player may know, once it is dealt.

        Raises:
            UnexpectedAnswer: it is not dealt, or the answer is none of this service.
        """
        try:
            return _observation(self._document["observation"])
        except (BriscolaError, KeyError, TypeError):
            raise UnexpectedAnswer("the answer shows no hand that could be played") from None

    @property
    def outcome(self) -> Outcome:
        """Who won by how much, once it is over."""
        points = Points(**self._document["result"]["points"])
        winner = None if points.player == points.computer else int(points.computer > points.player)
        return Outcome(TwoPlayer.sides, points, winner)

    @property
    def forfeit(self) -> Forfeit | None:
        """How it was given up, once it is over; None if it was played to its end.

        Raises:
            UnexpectedAnswer: the answer is none of this service.
        """
        told = self._result("forfeit")
        try:
            return None if told is None else Forfeit(told)
        except ValueError:
            raise UnexpectedAnswer("the answer does not say how the hand ended") from None

    @property
    def score(self) -> str | None:
        """The id of the score event, once it is over and published."""
        return self._result("score")

    @property
    def unpublished(self) -> str | None:
        """Why there is no score event."""
        return self._result("unpublished")

    async def refresh(self) -> None:
        """Look at it again; raises ClientError."""
        await self._step("GET", "")

    async def deal(self) -> None:
        """Deal it with a fresh seed of the player's, which the player's key signs; raises ClientError."""
        document = self._document
        seed = secrets.token_bytes(SEED_BYTES)
        statement = sign_statement(
            self._player_key,
            terms=Terms(document["id"], document["player"], document["username"], document["level"]),
            commitment_event=document["commitment_event"]["id"],
            commitment=document["commitment"],
            client_seed=seed,
            created_at=int(time.time()),
        )
        await self._step("POST", "/deal", {"client_seed": seed.hex(), "statement": statement.to_dict()})

    async def play(self, card: Card) -> None:
        """Play a card as the next ply, and hear what the computer answers.

        Raises:
            WentOn: the hand is not where this match took it to be.
            ClientError: see `app.client`.
        """
        ply = self._document["next_ply"]
        try:
            await self._step("POST", "/plays", {"card": str(card), "ply": ply})
        except Refused as refused:
            if refused.slug not in _NOT_HERE:
                raise
            await self.refresh()
            raise WentOn(refused.detail) from None
        if any(side == Side.PLAYER for side, _ in self._document["plays"][ply:]):
            raise WentOn("This card was played before, and others after it.")

    async def resign(self) -> None:
        """Give it up; raises ClientError."""
        await self._step("POST", "/resign")

    async def transcript(self) -> bytes:
        """The event that holds the transcript, as JSON text; raises ClientError."""
        return await self._client.call("GET", f"/v1/matches/{self.id}/transcript", auth=self._auth)

    def _result(self, name: str) -> str | None:
        result = self._document["result"]
        return None if result is None or result[name] is None else str(result[name])

    async def _step(self, method: str, path: str, body: dict[str, Any] | None = None) -> None:
        answer = await self._client.call(method, f"/v1/matches/{self.id}{path}", body=body, auth=self._auth)
        self._document = _read(answer)


def _read(answer: bytes) -> dict[str, Any]:
    try:
        document: dict[str, Any] = orjson.loads(answer)
        if {"id", "state", "observation", "result", "next_ply", "plays"} <= document.keys():
            return document
    except (orjson.JSONDecodeError, AttributeError):
        pass
    raise UnexpectedAnswer("the answer is no match: is this the address of the service?")


def _observation(told: dict[str, Any]) -> Observation:
    public = Public(
        variant=told["variant"],
        first=told["first"],
        to_move=told["to_move"],
        trump=_SUITS[told["trump"]],
        face_up=parse_card(told["face_up"]),
        stock_left=told["stock_left"],
        leader=told["leader"],
        table=tuple(map(parse_card, told["table"])),
        hand_sizes=tuple(told["hand_sizes"]),
        points=tuple(told["points"]),
        actions=tuple(map(parse_action, told["actions"])),
    )
    hand, legal = map(parse_card, told["hand"]), map(parse_action, told["legal_actions"])
    return Observation(public, told["seat"], tuple(hand), tuple(legal))
