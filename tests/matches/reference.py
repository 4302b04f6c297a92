"""A second reading of the formats and the rules that shares nothing with `app`: cards are texts, all is slow.

`python -m tests.matches.reference > tests/vectors/match.json` writes the vectors.
"""

from __future__ import annotations

import hashlib
import json
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coincurve import PrivateKey

if TYPE_CHECKING:
    from collections.abc import Callable

PIP_ORDER = [2, 4, 5, 6, 7, 8, 9, 10, 3, 1]  # from weakest to strongest
WORTH = {1: 11, 3: 10, 10: 4, 9: 3, 8: 2}
FULL_DECK = [suit + str(number) for suit in "BCDS" for number in range(1, 11)]
BAR = {"gentle": 0, "normal": 10, "sharp": 4}


def framed(*fields: bytes) -> bytes:
    out = bytearray()
    for part in fields:
        out += bytes([len(part) // 256, len(part) % 256])
        out += part
    return hashlib.sha256(bytes(out)).digest()


def commitment(case: dict[str, Any]) -> str:
    return framed(
        b"briscola/1/commit",
        case["match"].encode("ascii"),
        case["player"].encode("ascii"),
        case["level"].encode("ascii"),
        bytes.fromhex(case["server_seed"]),
        bytes.fromhex(case["salt"]),
    ).hex()


def common_seed(purpose: str, case: dict[str, Any]) -> bytes:
    return framed(
        f"briscola/1/{purpose}".encode("ascii"),
        case["match"].encode("ascii"),
        bytes.fromhex(case["server_seed"]),
        bytes.fromhex(case["client_seed"]),
    )


def deck_of(seed: bytes) -> list[str]:
    stream = bytearray()
    for block in range(64):
        stream += hashlib.sha256(seed + block.to_bytes(4, "big")).digest()
    numbers = (int.from_bytes(stream[at : at + 4], "big") for at in range(0, len(stream), 4))
    deck = list(FULL_DECK)
    for top in range(39, 0, -1):
        whole = 2**32 // (top + 1) * (top + 1)
        number = next(n for n in numbers if n < whole)
        other = number % (top + 1)
        deck[top], deck[other] = deck[other], deck[top]
    return deck


def suit(card: str) -> str:
    return card[0]


def number(card: str) -> int:
    return int(card[1:])


def worth(card: str) -> int:
    return WORTH.get(number(card), 0)


def place(card: str) -> int:
    return PIP_ORDER.index(number(card))


def beats(second: str, first: str, trump: str) -> bool:
    if suit(second) == suit(first):
        return place(second) > place(first)
    return suit(second) == trump


@dataclass
class Hand:
    """One hand; the player is 0 and leads first."""

    deck: list[str]
    hands: list[list[str]] = field(default_factory=lambda: [[], []])
    stock: list[str] = field(default_factory=list)
    table: list[str] = field(default_factory=list)
    points: list[int] = field(default_factory=lambda: [0, 0])
    turn: int = 0
    trump: str = ""

    def __post_init__(self) -> None:
        for at in range(6):
            self.hands[at % 2].append(self.deck[at])
        self.trump = suit(self.deck[6])
        self.stock = [*self.deck[7:], self.deck[6]]

    def put(self, card: str) -> None:
        self.hands[self.turn].remove(card)
        self.table.append(card)
        if len(self.table) == 1:
            self.turn = 1 - self.turn
            return
        first, second = self.table
        leader = 1 - self.turn
        taker = self.turn if beats(second, first, self.trump) else leader
        self.points[taker] += worth(first) + worth(second)
        self.table = []
        self.turn = taker
        if self.stock:
            self.hands[taker].append(self.stock.pop(0))
            self.hands[1 - taker].append(self.stock.pop(0))


def discard_value(card: str, trump: str) -> float:
    return round(worth(card) + place(card) / 10 + 50 * (suit(card) == trump), 1)


def winner_value(card: str, trump: str) -> int:
    return worth(card) + place(card) + 50 * (suit(card) == trump)


def computer(level: str, hand: Hand) -> str:
    """Seed 002; of equals the first in hand order, for the largest the last."""
    cards, trump = hand.hands[1], hand.trump
    cheapest = sorted(cards, key=lambda card: discard_value(card, trump))  # stable
    if not hand.table:
        return cheapest[-1] if level == "sharp" and not hand.stock else cheapest[0]
    led = hand.table[0]
    winners = sorted(
        (card for card in cards if beats(card, led, trump)), key=lambda card: winner_value(card, trump)
    )
    if not winners:
        return cheapest[0]
    spends = suit(winners[0]) == trump and suit(led) != trump
    return cheapest[0] if spends and worth(led) < BAR[level] else winners[0]


def play_out(
    deck: list[str], level: str, chosen: Callable[[int, list[str]], str], plies: int = 40
) -> tuple[list[list[str]], list[int]]:
    """The plays of a hand up to `plies`, and the points; `chosen` is given the ply and the player's hand."""
    hand, plays = Hand(deck), []
    while len(plays) < plies and hand.hands[hand.turn]:
        if hand.turn == 0:
            card = chosen(len(plays) + 1, hand.hands[0])
            plays.append(["player", card])
        else:
            card = computer(level, hand)
            plays.append(["computer", card])
        hand.put(card)
    return plays, hand.points


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def signed(secret: int, created_at: int, kind: int, tags: list[list[str]], content: str) -> dict[str, Any]:
    key = PrivateKey.from_int(secret)
    pubkey = key.public_key_xonly.format().hex()
    digest = hashlib.sha256(compact([0, pubkey, created_at, kind, tags, content]).encode()).digest()
    return {
        "id": digest.hex(),
        "pubkey": pubkey,
        "created_at": created_at,
        "kind": kind,
        "tags": tags,
        "content": content,
        "sig": key.sign_schnorr(digest, None).hex(),
    }


def scattered(ply: int, cards: list[str]) -> str:
    """A choice that follows no plan."""
    return cards[(ply * 7 + len("".join(cards)) * 3) % len(cards)]


def transcript(
    case: dict[str, Any], app: int, player: int, now: int, *, plies: int = 40, published: bool = True
) -> dict[str, Any]:
    """Everything about a match on the terms and seeds in `case`."""
    committed = commitment(case)
    deck = deck_of(common_seed("deck", case))
    plays, points = play_out(deck, case["level"], scattered, plies)
    opening = signed(
        app,
        now,
        78,
        [
            ["d", case["match"]],
            ["commitment", committed],
            ["variant", "two-player"],
            ["level", case["level"]],
            ["p", case["player"]],
            ["username", case["username"]],
        ],
        "",
    )
    statement = signed(
        player,
        now + 1,
        78,
        [
            ["d", case["match"]],
            ["e", opening["id"]],
            ["commitment", committed],
            ["client-seed", case["client_seed"]],
        ],
        "",
    )
    over = len(plays) == 40
    score = None
    if over and published:
        name = case["username"]
        tags = [
            ["d", name.lower()],
            ["app", "briscola-score"],
            ["username", name],
            ["score", str(points[0])],
        ]
        score = signed(app, now + 90, 31250, tags, compact({"v": 1, "username": name, "score": points[0]}))
    content = {
        **case,
        "v": 1,
        "variant": "two-player",
        "commitment": committed,
        "commitment_event": opening,
        "statement": statement,
        "plays": plays,
        "points": {"player": points[0], "computer": points[1]},
        "forfeit": None if over else "resigned",
        "score_event": score,
    }
    tags = [["d", case["match"]], *([["e", score["id"]]] if score else [])]
    return {
        **case,
        "commitment": committed,
        "deck_seed": common_seed("deck", case).hex(),
        "play_seed": common_seed("play", case).hex(),
        "deck": deck,
        "plays": plays,
        "points": points,
        "forfeit": content["forfeit"],
        "score_event": score and score["id"],
        "event": signed(app, now + 91, 30078, tags, canonical(content)),
    }


def terms(label: str, level: str, username: str, player: int) -> dict[str, Any]:
    """Terms and seeds that follow from a label."""

    def seed(name: str) -> str:
        return hashlib.sha256(f"{label} {name}".encode()).hexdigest()

    return {
        "match": seed("match")[:32],
        "player": PrivateKey.from_int(player).public_key_xonly.format().hex(),
        "username": username,
        "level": level,
        "server_seed": seed("server"),
        "salt": seed("salt"),
        "client_seed": seed("client"),
    }


def document() -> dict[str, Any]:
    app, player, now = 3, 5, 1_760_000_000
    whole = [
        transcript(terms(f"whole {level}", level, name, player), app, player, now)
        for level, name in (("gentle", "alice"), ("normal", "Zoë"), ("sharp", "Ωμέγα"))
    ]
    short = [
        transcript(terms("resigned", "normal", "bob", player), app, player, now, plies=11),
        transcript(terms("resigned at once", "gentle", "bob", player), app, player, now, plies=0),
        transcript(terms("unpublished", "sharp", "carla", player), app, player, now, published=False),
    ]
    return {
        "format": "made by tests/matches/reference.py. app_pubkey: the app's key. matches: terms and seeds, "
        "what follows from them, and event, the transcript as a signed event",
        "app_pubkey": PrivateKey.from_int(app).public_key_xonly.format().hex(),
        "matches": whole + short,
    }


if __name__ == "__main__":
    json.dump(document(), sys.stdout, ensure_ascii=False, indent=1)
    sys.stdout.write("\n")
