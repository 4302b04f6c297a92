"""`play` as it is typed: whole hands, early ends, wrong input."""

import pytest
from click.testing import CliRunner

from app.briscola.game import Outcome
from app.cli import main
from app.cli.play import closing

SEED = "00" * 32
ALWAYS_THE_FIRST = "1\n" * 20


def run(*arguments: str, typed: str = ""):
    return CliRunner().invoke(main, ["play", *arguments], input=typed)


def test_a_whole_hand():
    result = run("--seed", SEED, typed=ALWAYS_THE_FIRST)
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    # The deck of this seed: C5 S2 C6 D4 S4 B10, then S10 turned up.
    assert lines[:2] == [
        "Briscola, two-player, against the computer at level normal.",
        "Under the stock: re di spade (S10)",
    ]
    assert lines[3:8] == [
        "Trick 1 · stock 34 · briscola spade",
        "you: 0 · computer: 0",
        "  1 cinque di coppe (C5)",
        "  2 sei di coppe (C6)",
        "  3 quattro di spade (S4)",
    ]
    trick = lines.index("Trick 18 · stock empty · briscola spade")
    assert lines[trick + 1] == "you: 35 · computer: 63"
    assert lines[-2] == "You lose, 35 to 85. The four aces and four threes hold 84 of the 120 points."
    assert lines[-1] == f"To play these cards again: --seed {SEED}"


def test_the_note_is_for_your_tricks_of_ten_or_more():
    lines = run("--seed", SEED, typed=ALWAYS_THE_FIRST).output.splitlines()
    noted = [line for line in lines if line.endswith("points!")]
    taken = [line for line in lines if line.startswith("You take the trick")]
    sizes = [int(line.split(": ")[1].split()[0]) for line in noted]
    assert len(taken) > len(noted) > 0
    assert all(size >= 10 for size in sizes)


@pytest.mark.parametrize("variant", ["partnership", "chiamata"])
def test_the_other_variants(variant):
    typed = "A\n" * (variant == "chiamata") + ALWAYS_THE_FIRST
    result = run("--variant", variant, "--seed", SEED, "--hints", typed=typed)
    assert result.exit_code == 0, result.output
    assert "Hint: " in result.output
    assert "120 points" in result.output or " win" in result.output


def test_english_names_and_no_hints():
    result = run("--seed", SEED, "--names", "english", typed="c5\n")
    assert "You lead five of hearts (C5)" in result.output
    assert "Hint" not in result.output


def test_the_input_ends_early():
    result = run("--seed", SEED, typed="1\n1\n")
    assert result.exit_code == 2
    assert result.stderr == "The input ended before the hand did: it counts for nothing.\n"


def test_stopping():
    result = run("--seed", SEED, typed="1\nq\n")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "You stop here: the hand is not finished and counts for nothing."


def test_what_is_no_choice_is_asked_again():
    result = run("--seed", SEED, typed="4\nD1\n\nS4\nq\n")
    for typed in ("4", "D1", ""):
        assert f"'{typed}' is not among them: type 1 to 3 or a card such as C5\n" in result.output
    assert "You lead quattro di spade (S4)" in result.output


@pytest.mark.parametrize("seed", ["12", "zz" * 32, "00" * 33])
def test_no_seed(seed):
    result = run("--seed", seed)
    assert result.exit_code == 2
    assert "64 hexadecimal digits" in result.stderr


def test_master_plays_two_player_only():
    result = run("--variant", "chiamata", "--level", "master")
    assert result.exit_code == 2
    assert "master plays two-player only" in result.stderr


@pytest.mark.parametrize(
    ("outcome", "line"),
    [
        (Outcome(((0,), (1,)), (60, 60), None), "Sixty all."),
        (Outcome(((0,), (1,)), (72, 48), 0), "You win, 72 to 48."),
        (
            Outcome(((0,), (1,)), (48, 72), 1),
            "You lose, 48 to 72. The four aces and four threes hold 84 of the 120 points.",
        ),
        (Outcome(((0, 2), (1, 3)), (61, 59), 0), "Your side wins, 61 to 59."),
        (Outcome(((3, 4), (0, 1, 2)), (60, 60), 1), "Your side wins, 60 to 60."),
    ],
)
def test_the_last_line(outcome, line):
    assert closing(outcome) == line
