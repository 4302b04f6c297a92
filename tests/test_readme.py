"""The README is held to its word: its tour is run as it stands, in one shell, against a real relay."""

import asyncio
import os
import re
import socket
import sys
from pathlib import Path

import pytest
import yaml

from tests.relays.real import rust_relay
from tests.service import running

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
TOUR = re.findall(r"^```console\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
ONE_LINERS = re.findall(r"^```sh\n(.*?)\n```$", README, re.MULTILINE | re.DOTALL)
SECONDS = 30


def steps(block):
    """(command, expected output) of one console block."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def matches(expected, actual):
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    return re.fullmatch(pattern, actual) is not None


class Shell:
    """One bash that runs commands one after another, as a reader would type them."""

    def __init__(self, process):
        self.process = process

    async def run(self, command, expected):
        """Run a command and read until it has ended, or, for one in the background, has said its piece."""
        background = command.endswith("&")
        end = "" if background else "echo; echo ==end=="
        self.process.stdin.write(f"{command}\n{end}\n".encode())
        output = ""
        async with asyncio.timeout(SECONDS):
            while not (output.endswith("\n==end==\n") or (background and matches(expected, output))):
                line = await self.process.stdout.readline()
                assert line, f"the shell ended after {output!r}"
                output += line.decode()
        return output.removesuffix("\n==end==\n")


def console_script(folder):
    """The folder that holds `briscola-scores`: the environment's, or one with a stand-in."""
    installed = Path(sys.executable).parent
    if (installed / "briscola-scores").exists():
        return installed
    script = folder / "briscola-scores"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m app "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.fixture
async def shell(tmp_path):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BRISCOLA_")}
    environment["PATH"] = f"{console_script(tmp_path)}:{environment['PATH']}"
    process = await asyncio.create_subprocess_exec(
        "bash",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=tmp_path,
        env=environment,
        limit=1 << 20,
    )
    yield Shell(process)
    process.stdin.write(b"kill $(jobs -p); wait; exit\n")
    async with asyncio.timeout(SECONDS):
        await process.wait()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return str(listening.getsockname()[1])


async def test_the_tour_runs_as_it_stands(shell):
    assert len(TOUR) >= 6
    async with rust_relay() as relay:
        ports = {"7777": relay.rstrip("/").rpartition(":")[2], "8000": free_port()}

        def here(text):
            return re.sub("|".join(ports), lambda found: ports[found[0]], text)

        for block in TOUR:
            for command, expected in steps(block):
                output = await shell.run(here(command), here(expected))
                assert matches(here(expected), output), f"$ {command}\n{output}"


def test_the_two_commands_install_from_the_lock_file():
    demo, tests = ONE_LINERS[:2]
    for command in (demo, tests):
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install -q -c requirements.lock ")
    assert demo.endswith(" && .venv/bin/briscola-scores demo")
    assert tests.endswith(" && .venv/bin/pytest")


def test_ci_runs_the_test_command_of_the_readme():
    assert ONE_LINERS[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_every_command_is_in_the_readme():
    from app.cli import COMMANDS

    assert [name for name in COMMANDS if f"briscola-scores {name}" not in README] == []


async def test_every_metric_of_the_alerts_is_there(tmp_path):
    (rules,) = re.findall(r"^```yaml\n(groups:.*?)^```$", README, re.MULTILINE | re.DOTALL)
    alerts = [rule for group in yaml.safe_load(rules)["groups"] for rule in group["rules"]]
    assert all(alert["alert"] and alert["annotations"]["summary"] for alert in alerts)
    async with running(tmp_path) as service:
        await service.post("alice", 72)
        await service.http.get("/healthz")
        told = (await service.http.get("/metrics")).text
    for alert in alerts:
        named = re.findall(r"\b(briscola_\w+)({[^}]*})?", alert["expr"])
        assert named or alert["expr"].startswith("up{")
        for name, labels in named:
            assert re.search(rf"^{name}[ {{]", told, re.MULTILINE), name
            for label, value in re.findall(r'(\w+)="([^"]*)"', labels):
                assert re.search(rf'^{name}{{.*\b{label}="{value}"', told, re.MULTILINE), (name, label, value)
