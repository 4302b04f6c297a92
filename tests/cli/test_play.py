"""`play` as it is typed: whole hands, early ends, wrong input."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.briscola.game import Outcome
from app.cli import main, play
from app.cli.play import closing
from app.cli.unusable import Unusable

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


def python_play(typed: bytes, **options):
    """`play` in a process of its own, with the streams and environment of `options`."""
    command = [sys.executable, "-m", "app", "play", "--seed", SEED]
    return subprocess.run(command, input=typed, stderr=subprocess.PIPE, check=False, **options)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_and_any_bytes(encoding):
    environment = {**os.environ, "PYTHONIOENCODING": f"{encoding}:strict"}
    run = python_play(b"\xff\xc3\n1\nq\n", stdout=subprocess.PIPE, env=environment)
    assert (run.returncode, run.stderr) == (0, b"")
    told = run.stdout.decode(encoding)
    assert f"Trick 1 {'?' if encoding == 'ascii' else '·'} stock 34" in told
    assert "is not among them: type 1 to 3" in told
    assert "You lead cinque di coppe (C5)" in told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_the_output_cannot_be_written():
    with Path("/dev/full").open("wb") as full:
        run = python_play(b"1\n" * 20, stdout=full)
    assert run.returncode == 2
    assert run.stderr == b"Error: cannot go on with the hand: No space left on device\n"


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_a_closed_stream(stream, monkeypatch):
    main_play = play.command.callback
    monkeypatch.setattr(sys, stream, None)
    with pytest.raises(Unusable, match="an input and an output that are open"):
        main_play("two-player", "normal", "italian", bytes(32), hints=False, server=None, name=None)


def test_the_reader_has_seen_enough():
    command = f"{sys.executable} -m app play --seed {SEED} | head -1"
    run = subprocess.run(command, input=b"1\n" * 20, shell=True, capture_output=True, check=False)
    assert (run.stdout.count(b"\n"), run.stderr) == (1, b"")


def test_ctrl_c_while_the_computer_thinks(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(play, "computer", lambda *_: interrupted)
    result = run("--seed", SEED, typed="1\n")
    assert result.exit_code == 0
    assert result.output.splitlines()[-1] == "You stop here: the hand is not finished and counts for nothing."


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
