"""Fetching a relay's information document (NIP-11) from the relay's own host, whatever it sends."""

import httpx

from app.delivery.answer import one_line
from app.delivery.connection import tls_context
from app.delivery.limits import NoLimits
from app.download import DownloadFailed, download
from app.nostr.nip11 import MEDIA_TYPE, Limitation, NotInformation, information_url, parse_limitation

SIZE_LIMIT = 64 * 1024


async def fetch_limitation(relay: str) -> Limitation:
    """The limits that the relay tells over HTTP.

    No redirect is followed and no proxy used, so that nobody but the configured host is ever asked.

    Raises:
        NoLimits: It does not tell them, not within ten seconds, or not in 64 KiB.
    """
    url = information_url(relay)
    try:
        async with httpx.AsyncClient(verify=tls_context(), trust_env=False, timeout=None) as client:  # noqa: S113 - `download` bounds it
            return parse_limitation(await download(client, url, accept=MEDIA_TYPE, limit=SIZE_LIMIT))
    except DownloadFailed as error:
        reason = str(error)
    except NotInformation as error:
        reason = f"the document is {error}"
    raise NoLimits(one_line(reason))
