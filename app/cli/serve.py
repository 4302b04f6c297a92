"""`serve`: the HTTP service."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.common import load_settings, run_loop
from app.cli.unusable import Unusable
from app.config import Settings
from app.log import configure_logging
from app.main import open_service
from app.store.errors import StoreUnusable
from app.web.connection import Guard
from app.web.origin import Origins
from app.web.server import Server, listen, url_of

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", default=8000, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free one."
)
def command(host: str, port: int) -> None:
    """Sign scores that are posted over HTTP and deliver them to the relays.

    The settings come from the environment; .env.example lists them all.
    """
    settings = load_settings(Settings)
    configure_logging(settings.log_level, settings.log_format)
    with open_port(host, port) as listening:
        url = url_of(listening)
        try:
            run_loop(
                serve_until_signal(settings, listening, lambda: click.echo(f"Listening on {url}", err=True))
            )
        except StoreUnusable as error:
            raise Unusable(str(error)) from None


def open_port(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        Unusable: if the address cannot be had.
    """
    try:
        return listen(host, port)
    except OSError as error:
        reason = str(error.strerror or error).partition(" (while")[0]  # the address is told already
        raise Unusable(f"cannot listen on {host} port {port}: {reason}") from None


async def serve_until_signal(
    settings: Settings, listening: socket.socket, started: Callable[[], None]
) -> None:
    """Open the service and answer requests until SIGINT or SIGTERM."""
    async with open_service(settings) as service:
        public_url = settings.public_url or url_of(listening)
        server = Server(
            service.app(public_url),
            listening,
            started=started,
            stopping=service.publisher.stop_waiting,
            guard=Guard(public_url, Origins(settings.trusted_proxies)),
        )
        await server.run_until_signal()
