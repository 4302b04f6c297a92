"""The page's hashes against the vectors, and what they refuse."""

from __future__ import annotations

from tests.vectors import load
from tests.web.js.node import run

CASES = load("match.json")["matches"]
IMPORTS = {"commitment.js": "commitment, deckSeed, playSeed, hex, fromHex", "shuffle.js": "shuffledDeck"}


def test_every_hash_and_deck():
    answer = run(
        IMPORTS,
        """return given.map((c) => {
          const [server, salt, client] = [c.server_seed, c.salt, c.client_seed].map(fromHex);
          const deck = deckSeed(c.match, server, client);
          return [commitment(c, server, salt), hex(deck), hex(playSeed(c.match, server, client)),
            shuffledDeck(deck)];
        });""",
        CASES,
    )
    names = ("commitment", "deck_seed", "play_seed", "deck")
    assert answer == [[case[name] for name in names] for case in CASES]


def test_seeds_of_another_length_or_type():
    answer = run(
        IMPORTS,
        """const good = new Uint8Array(32);
        return [new Uint8Array(31), new Uint8Array(33), "0".repeat(64), undefined].map((bad) =>
          [() => deckSeed("", bad, good), () => playSeed("", good, bad), () => commitment({}, bad, good),
           () => commitment({ match: "", player: "", level: "" }, good, bad)].filter((hash) => {
            try { hash(); } catch (error) { return error.message === "a seed is a Uint8Array of 32"; }
          }).length);""",
        None,
    )
    assert answer == [4, 4, 4, 4]
