"""Real relays, fresh for each test: nostr-sdk's in this process, nostr-relay in a process of its own."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest
from nostr_sdk import LocalRelay, LocalRelayBuilder, RateLimit

if TYPE_CHECKING:
    from pathlib import Path

START_SECONDS = 20.0

Configure = Callable[[LocalRelayBuilder], LocalRelayBuilder]


def without_rate_limit(builder: LocalRelayBuilder) -> LocalRelayBuilder:
    """Take any number of events; by default the relay refuses more than 60 a minute."""
    return builder.rate_limit(RateLimit(max_reqs=1000, notes_per_minute=1_000_000))


@asynccontextmanager
async def rust_relay(configure: Configure = without_rate_limit) -> AsyncIterator[str]:
    """nostr-sdk's relay, in this process; gives its URL."""
    relay: LocalRelay = configure(LocalRelayBuilder()).build()
    await relay.run()
    try:
        yield str(await relay.url())
    finally:
        relay.shutdown()


@asynccontextmanager
async def python_relay(folder: Path) -> AsyncIterator[str]:
    """nostr-relay, in a process of its own with its database in the folder; gives its URL."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = folder / "relay.yaml"
    config.write_text(_PYTHON_RELAY.format(port=port, database=folder / "relay.db"))
    program = "from nostr_relay.cli import main; main()"
    command = [sys.executable, "-c", program, "-c", str(config), "serve", "--use-uvicorn"]
    with (folder / "relay.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log, cwd=folder)
        try:
            await _until_listening(port)
            yield f"ws://127.0.0.1:{port}"
        finally:
            process.kill()
            await process.wait()


async def _until_listening(port: int) -> None:
    async with asyncio.timeout(START_SECONDS):
        while True:
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                await writer.wait_closed()
                return
            await asyncio.sleep(0.05)


@pytest.fixture(name="rust_relay")
async def rust_relay_fixture() -> AsyncIterator[str]:
    """The URL of nostr-sdk's relay without its rate limit."""
    async with rust_relay() as url:
        yield url


@pytest.fixture(name="python_relay")
async def python_relay_fixture(tmp_path: Path) -> AsyncIterator[str]:
    """The URL of a nostr-relay that is up."""
    async with python_relay(tmp_path) as url:
        yield url


_PYTHON_RELAY = """
DEBUG: false
relay_name: test
storage:
  sqlalchemy.url: sqlite+aiosqlite:///{database}
  num_concurrent_reqs: 10
  num_concurrent_adds: 2
  validators:
    - nostr_relay.validators.is_not_too_large
    - nostr_relay.validators.is_signed
    - nostr_relay.validators.is_recent
verification:
  nip05_verification: disabled
gunicorn:
  bind: 127.0.0.1:{port}
  workers: 1
  loglevel: warning
authentication:
  enabled: false
message_timeout: 1800
subscription_limit: 32
max_limit: 6000
max_event_size: 280
"""
