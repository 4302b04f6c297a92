"""One connection to a relay, opened anew whenever it is lost, with a jittered pause in between."""

import asyncio
import logging
from typing import NoReturn, Protocol

from app.delivery.backoff import Backoff, Random
from app.delivery.connection import ConnectError, Connection, Receiver, connect
from app.delivery.status import about
from app.nostr.relay_url import public_relay_url

logger = logging.getLogger(__name__)


class Client(Receiver, Protocol):
    """Whoever a connection is kept for; it has one at a time."""

    async def use(self, connection: Connection) -> str:
        """Work over an open connection; returns why that is over. Whoever ended it, it is closed then."""
        ...

    async def parted(self, reason: str, *, connected: bool) -> None:
        """There is no connection for a while; not `connected`: none came about this time."""
        ...


async def keep_connected(relay: str, client: Client, random: Random) -> NoReturn:
    """Keep one connection to this relay URL in use until cancelled; a fault in `client` ends it, too."""
    loop = asyncio.get_running_loop()
    shown = public_relay_url(relay)
    backoff = Backoff(random)
    while True:
        connected, lasted = False, 0.0
        try:
            connection = await connect(relay, client)
        except ConnectError as error:
            reason = str(error)
        else:
            connected, opened = True, loop.time()
            try:
                reason = await client.use(connection)
            finally:
                connection.close()
                await connection.lost
            lasted = loop.time() - opened
        pause = backoff.after(lasted)
        logger.warning("%s: %s; connecting again in %.1f s", shown, reason, pause, extra=about(relay))
        await client.parted(reason, connected=connected)
        await asyncio.sleep(pause)
