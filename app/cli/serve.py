"""`serve`: the HTTP service."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from app.cli.common import load_settings, run_loop
from app.cli.unusable import Unusable
from app.config import MirrorSettings, Settings, WebSettings
from app.log import configure_logging
from app.main import open_service
from app.mirror import open_mirror
from app.store.errors import StoreUnusable
from app.web.connection import Guard
from app.web.live_board import open_board
from app.web.origin import Origins
from app.web.server import Server, listen, url_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Coroutine


S = TypeVar("S", bound=WebSettings)


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one."
)
@click.option("--read-only", is_flag=True, help="Show somebody's scores; sign and store nothing.")
def command(host: str, port: int, read_only: bool) -> None:
    """Sign scores that are posted over HTTP, deliver them to the relays, and show the board.

    With --read-only it is a mirror of the scores of BRISCOLA_PUBLIC_KEYS: it needs no secret and no database.
    The settings come from the environment; .env.example lists them all.
    """
    if read_only:
        _run(mirror_until_signal, load_settings(MirrorSettings), host, port)
    else:
        _run(serve_until_signal, load_settings(Settings), host, port)


def _run(
    until_signal: Callable[[S, socket.socket, Callable[[], None]], Coroutine[Any, Any, None]],
    settings: S,
    host: str,
    port: int,
) -> None:
    configure_logging(settings.log_level, settings.log_format)
    _dump_no_core()
    with open_port(host, port) as listening:
        url = url_of(listening)
        try:
            run_loop(until_signal(settings, listening, lambda: click.echo(f"Listening on {url}", err=True)))
        except StoreUnusable as error:
            raise Unusable(str(error)) from None


def _dump_no_core() -> None:
    """A core would hold secrets, seeds and cards; the processes that this one starts inherit the limit."""
    try:
        import resource
    except ImportError:  # Windows writes none
        return
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))


def open_port(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        Unusable: if the address cannot be had.
    """
    if not host:  # the system takes it for every address there is
        raise Unusable("--host is empty: give an address such as 127.0.0.1, or 0.0.0.0 for all of them")
    try:
        return listen(host, port)
    except (OSError, UnicodeError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while")[
            0
        ]  # the address is told already
        raise Unusable(f"cannot listen on {host} port {port}: {reason}") from None


async def serve_until_signal(
    settings: Settings, listening: socket.socket, started: Callable[[], None]
) -> None:
    """Open the service and answer requests until SIGINT or SIGTERM."""
    public_url = settings.public_url or url_of(listening)
    async with (
        open_service(settings) as service,
        open_board(settings.relays, settings.verifying_keys, time.time, service.proofs) as board,
    ):
        guard = Guard(public_url, Origins(settings.trusted_proxies))
        app, stopping = service.app(public_url, board), partial(service.stop_waiting, board)
        await Server(app, listening, started=started, stopping=stopping, guard=guard).run_until_signal()


async def mirror_until_signal(
    settings: MirrorSettings, listening: socket.socket, started: Callable[[], None]
) -> None:
    """Read the relays and answer requests until SIGINT or SIGTERM."""
    public_url = settings.public_url or url_of(listening)
    async with open_mirror(settings) as mirror:
        guard = Guard(public_url, Origins(settings.trusted_proxies))
        app, stopping = mirror.app(public_url), mirror.board.close
        await Server(app, listening, started=started, stopping=stopping, guard=guard).run_until_signal()
