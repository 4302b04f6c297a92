"""The seeded shuffle, in Python and in JavaScript, against vectors made by neither."""

import json
import shutil
import subprocess
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from app.briscola.cards import DECK
from app.briscola.shuffle import RandomSource, shuffled_deck
from tests.vectors import load

VECTORS = load("shuffle.json")
CASES = VECTORS["cases"]
SHUFFLE_JS = Path(__file__).parents[2] / "app" / "web" / "js" / "shuffle.js"

# What the page's code makes of the vectors, printed in the vectors' own shape.
JAVASCRIPT = """
import { readFileSync } from "node:fs";
import { RandomSource, shuffledDeck, DECK } from SHUFFLE;
import { sha256 } from SHA256;
const bytes = (text) => new TextEncoder().encode(text);
const hex = (digest) => Buffer.from(digest).toString("hex");
const vectors = JSON.parse(readFileSync(0, "utf8"));
const cases = vectors.cases.map(({ seed, purpose, words, below }) => {
  const source = () => new RandomSource(Uint8Array.from(Buffer.from(seed, "hex")), bytes(purpose));
  const taken = (draw, count) => Array.from({ length: count }, draw);
  const one = source();
  return {
    seed,
    purpose,
    words: taken(() => one.word(), words.length),
    below: below.map(({ n, numbers }) => {
      const fresh = source();
      return { n, numbers: taken(() => fresh.randbelow(n), numbers.length) };
    }),
    deck: purpose ? source().shuffled(DECK) : shuffledDeck(Uint8Array.from(Buffer.from(seed, "hex"))),
  };
});
const digests = Object.fromEntries(Object.keys(vectors.sha256).map((m) => [m, hex(sha256(bytes(m)))]));
const refused = [0, -1, 1.5, 2 ** 32 + 1].filter((n) => {
  try { new RandomSource(new Uint8Array(32)).randbelow(n); } catch { return true; }
});
for (const seed of [new Uint8Array(31), "0".repeat(32), Array(32).fill(0)]) {
  try { shuffledDeck(seed); } catch (error) { refused.push(error.message); }
}
class Words extends RandomSource {
  constructor(...words) {
    super(new Uint8Array(32));
    this.word = () => words.shift();
  }
}
const skipped = [
  new Words(2 ** 32 - 1, 2 ** 32 - 2).randbelow(3),
  new Words(2 ** 31 + 1, 2 ** 32 - 1, 2 ** 31).randbelow(2 ** 31 + 1),
  new Words(2 ** 32 - 1).randbelow(2 ** 32),
];
console.log(JSON.stringify({ skipped, cases, sha256: digests, refused }));
"""


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['seed'][:6]}-{case['purpose']}")
def test_stream_numbers_and_deck(case):
    seed, purpose = bytes.fromhex(case["seed"]), case["purpose"].encode()
    source = RandomSource(seed, purpose)
    assert [source.word() for _ in case["words"]] == case["words"]
    for below in case["below"]:
        source = RandomSource(seed, purpose)
        assert [source.randbelow(below["n"]) for _ in below["numbers"]] == below["numbers"]
    assert [str(card) for card in RandomSource(seed, purpose).shuffled(DECK)] == case["deck"]
    if not purpose:
        assert [str(card) for card in shuffled_deck(seed)] == case["deck"]


def test_the_page_shuffles_alike():
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    script = JAVASCRIPT.replace("SHUFFLE", json.dumps(SHUFFLE_JS.as_uri()))
    script = script.replace("SHA256", json.dumps(SHUFFLE_JS.with_name("sha256.js").as_uri()))
    run = subprocess.run(
        [node, "--input-type=module", "-e", script],
        input=json.dumps(VECTORS),
        capture_output=True,
        text=True,
        check=True,
    )
    answer = json.loads(run.stdout)
    assert answer["cases"] == CASES
    assert answer["skipped"] == [2, 2**31, 2**32 - 1]
    assert answer["sha256"] == VECTORS["sha256"]
    assert answer["refused"] == [
        0,
        -1,
        1.5,
        2**32 + 1,
        "a seed has 32 bytes, not 31",
        *["a seed is a Uint8Array"] * 2,
    ]


def test_a_word_beyond_the_last_whole_round_is_skipped():
    # 2^32 = 3 x 1431655765 + 1, so the one word left over is 2^32 - 1; below 2^31 + 1 nearly half are.
    class Words(RandomSource):
        def __init__(self, *words):
            self.word = iter(words).__next__

    assert Words(2**32 - 1, 2**32 - 2).randbelow(3) == (2**32 - 2) % 3 == 2
    assert Words(2**31 + 1, 2**32 - 1, 2**31).randbelow(2**31 + 1) == 2**31
    assert Words(2**32 - 1).randbelow(2**32) == 2**32 - 1


def test_a_deck_continues_the_stream():
    # 39 numbers, none rejected for these bounds, leave the stream at its 40th word.
    source = RandomSource(bytes(32))
    source.shuffled(DECK)
    fresh = RandomSource(bytes(32))
    assert source.word() == [fresh.word() for _ in range(40)][39]


def test_every_card_is_as_likely_in_every_place():
    rounds = 4000
    counts = [[0] * 40 for _ in range(40)]
    for i in range(rounds):
        for place, card in enumerate(shuffled_deck(sha256(str(i).encode()).digest())):
            counts[card][place] += 1
    expected = rounds / 40
    chi_square = sum((n - expected) ** 2 / expected for row in counts for n in row)
    # 39 x 39 degrees of freedom: mean 1521, standard deviation 55.2; five of them either way.
    assert 1521 - 276 < chi_square < 1521 + 276


def test_choice_takes_what_randbelow_points_at():
    case = CASES[0]
    numbers = next(below["numbers"] for below in case["below"] if below["n"] == 40)
    source = RandomSource(bytes.fromhex(case["seed"]))
    assert [source.choice(DECK) for _ in numbers] == [DECK[n] for n in numbers]


@pytest.mark.parametrize("seed", [b"", bytes(31), bytes(33)])
def test_a_seed_has_32_bytes(seed):
    with pytest.raises(ValueError, match=f"not {len(seed)}"):
        shuffled_deck(seed)


@pytest.mark.parametrize("n", [0, -1, 2**32 + 1])
def test_bounds(n):
    with pytest.raises(ValueError, match="cannot draw below"):
        RandomSource(bytes(32)).randbelow(n)


def test_purposes_are_independent():
    decks = [RandomSource(bytes(32), purpose).shuffled(DECK) for purpose in (b"", b"a", b"b")]
    assert all(one != other for one, other in pairwise([*decks, decks[0]]))
