"""`demo`: the whole round trip on this machine alone, with a relay inside this process."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import httpx

from app.cli.common import run_loop
from app.cli.serve import open_port
from app.cli.unusable import Unusable
from app.config import Settings
from app.delivery.connection import ConnectError
from app.delivery.fetch import fetch
from app.environment import load
from app.log import configure_logging
from app.main import open_service
from app.nostr.keys import SecretKey
from app.store.api_keys import add_key
from app.store.database import Database
from app.verifier import Check, Verdict, verify
from app.web.live_board import open_board
from app.web.server import Server, url_of

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator

_USERNAME, _SCORE = "alice", 72
_SECONDS = 20

# What each check asks, in the words of a reader.
_QUESTIONS = {
    Check.KIND: "is the kind 31250?",
    Check.PUBKEY: "is it the app's public key?",
    Check.APP: "is the app tag there?",
    Check.SIGNATURE: "do id and signature hold?",
    Check.CONTENT: "does the content say v = 1?",
}


class _StepFailed(Exception):
    """A step of the round trip did not come out as it must."""


@click.command("demo")
@click.option("--once", is_flag=True, help="Stop after the round trip: exit code 0, or 1 if a step failed.")
@click.option(
    "--port", default=0, type=click.IntRange(0, 65535), help="Port to serve on; any free one by default."
)
def command(once: bool, port: int) -> None:
    """Post a score, get it onto a relay, read it back and verify it: all on this machine.

    A relay and the service start with a fresh key and an empty database in a temporary folder. No setting is
    read and nothing is kept.
    """
    configure_logging("warning", "text")
    with tempfile.TemporaryDirectory(prefix="briscola-scores-") as folder:
        sys.exit(run_loop(_demo(Path(folder), open_port("127.0.0.1", port), once)))


async def _demo(folder: Path, listening: socket.socket, once: bool) -> int:
    async with _embedded_relay() as relay:
        database_url = f"sqlite:///{folder / 'demo.db'}"
        settings, _ = load(
            Settings,
            {
                "BRISCOLA_SECRET_KEY": SecretKey.generate().to_hex(),
                "BRISCOLA_RELAYS": relay,
                "BRISCOLA_DATABASE_URL": database_url,
            },
        )
        api_key = _make_api_key(database_url)
        url = url_of(listening)
        started = asyncio.Event()
        async with (
            open_service(settings) as service,
            open_board(settings.relays, settings.verifying_keys, time.time, service.proofs) as board,
        ):
            server = Server(
                service.app(url, board),
                listening,
                started=started.set,
                stopping=partial(service.stop_waiting, board),
            )
            serving = asyncio.create_task(server.run_until_signal())
            await started.wait()
            _say("Relay", f"{relay}  (inside this process)")
            _say("Service", f"{url}  (fresh key {settings.pubkey[:8]}…)")
            try:
                await _round_trip(url, relay, api_key, settings.pubkey)
            except _StepFailed as error:
                click.echo(click.style(f"\nFailed: {error}", fg="red"), err=True)
                server.stop()
                await serving
                return 1
            if once:
                server.stop()
            else:
                _invite(url, api_key)
            await serving
    return 0


@asynccontextmanager
async def _embedded_relay() -> AsyncIterator[str]:
    try:
        from nostr_sdk import LocalRelayBuilder
    except ImportError:
        raise Unusable("the demo needs a relay, which comes with the extra: pip install '.[demo]'") from None
    relay = LocalRelayBuilder().addr("127.0.0.1").build()
    await relay.run()
    try:
        yield str(await relay.url()).rstrip("/")
    finally:
        relay.shutdown()


def _make_api_key(database_url: str) -> str:
    database = Database(database_url)
    try:
        with database.writer.begin() as connection:
            return add_key(connection, "demo", now=time.time())[1]
    finally:
        database.close()


async def _round_trip(url: str, relay: str, api_key: str, pubkey: str) -> None:
    _heading(f"1  POST {url}/v1/scores")
    body = {"username": _USERNAME, "score": _SCORE}
    click.echo(f"   {json.dumps(body)}")
    try:
        async with httpx.AsyncClient(timeout=_SECONDS + 5, trust_env=False) as client:
            response = await client.post(
                f"{url}/v1/scores",
                json=body,
                headers={"Authorization": f"Bearer {api_key}", "Prefer": f"wait={_SECONDS}"},
            )
    except httpx.HTTPError as error:
        raise _StepFailed(f"the service did not answer: {error}") from None
    click.echo(f"   {response.status_code} {response.reason_phrase}")
    if response.status_code != 201:
        raise _StepFailed(f"the service answered {response.text}")
    answer = response.json()
    _heading("2  The signed event")
    for name, value in answer["event"].items():
        click.echo(f"   {name:<11} {json.dumps(value, ensure_ascii=False)}")
    _heading("3  The relay's answer")
    for delivery in answer["relays"]:
        click.echo(f"   {delivery['url']}: {delivery['state']} {delivery['message']}".rstrip())
    if answer["state"] != "accepted":
        raise _StepFailed(f"the relay did not accept the event within {_SECONDS} s")
    _heading("4  Read back from the relay over a second connection")
    event = await _read_back(relay, answer["event"])
    click.echo(f"   {event['id']}")
    _heading("5  The five checks")
    if not _show_checks(verify(event, pubkey)):
        raise _StepFailed("the event does not verify")


async def _read_back(relay: str, sent: dict[str, Any]) -> dict[str, Any]:
    try:
        fetched = await fetch(relay, [{"ids": [sent["id"]]}], timeout=_SECONDS, limit=1)
    except ConnectError as error:
        raise _StepFailed(f"the relay could not be read: {error}") from None
    if not fetched.complete:
        raise _StepFailed(f"the relay could not be read: {fetched.reason}")
    events = [json.loads(event.text) for event in fetched.events]
    if events != [sent]:
        raise _StepFailed("the relay did not give the same event back")
    return sent


def _show_checks(verdict: Verdict) -> bool:
    """Print each check with its outcome; those after the first that failed were not made."""
    good = True
    for check, question in _QUESTIONS.items():
        good = good and verdict.failed is not check
        mark = click.style("yes", fg="green") if good else click.style("no", fg="red")
        click.echo(f"   {check:<10} {question:<30} {mark}")
        if not good:
            break
    click.echo(
        f"   verified: {verdict.username} has {verdict.score} points" if verdict.ok else "   not verified"
    )
    return verdict.ok


def _invite(url: str, api_key: str) -> None:
    click.echo(
        f"\nThe service goes on. Post the next score from another terminal; stop with Ctrl-C.\n\n"
        f"curl {url}/v1/scores -H 'Authorization: Bearer {api_key}' -H 'Prefer: wait=5' \\\n"
        f'  -H \'Content-Type: application/json\' -d \'{{"username": "bob", "score": 61}}\''
    )


def _say(label: str, text: str) -> None:
    click.echo(f"{click.style(f'{label:<8}', bold=True)} {text}")


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True))
