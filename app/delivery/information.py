"""Fetching a relay's information document (NIP-11) from the relay's own host, whatever it sends."""

import asyncio

import httpcore  # noqa: F401 - httpx would load it with the first call, and hold up a loop that serves
import httpx

from app.delivery.answer import one_line
from app.delivery.connection import tls_context
from app.delivery.limits import NoLimits
from app.nostr.nip11 import MEDIA_TYPE, Limitation, NotInformation, information_url, parse_limitation

FETCH_SECONDS = 10.0
SIZE_LIMIT = 64 * 1024


async def fetch_limitation(relay: str) -> Limitation:
    """The limits that the relay tells over HTTP.

    No redirect is followed and no proxy used, so that nobody but the configured host is ever asked; no
    compressed answer is unpacked.

    Raises:
        NoLimits: It does not tell them, not within ten seconds, or not in 64 KiB.
    """
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            return parse_limitation(await _download(information_url(relay)))
    except TimeoutError:
        reason = f"no answer within {FETCH_SECONDS:.0f} s"
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
    except NotInformation as error:
        reason = f"the document is {error}"
    raise NoLimits(one_line(reason))


async def _download(url: str) -> bytes:
    headers = {"Accept": MEDIA_TYPE, "Accept-Encoding": "identity"}
    async with (
        httpx.AsyncClient(verify=tls_context(), trust_env=False, timeout=FETCH_SECONDS) as client,
        client.stream("GET", url, headers=headers) as response,
    ):
        if response.status_code != httpx.codes.OK:
            raise NoLimits(f"the relay answered HTTP {response.status_code}")
        body = b""
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > SIZE_LIMIT:
                raise NoLimits(f"the document is longer than {SIZE_LIMIT} bytes")
    return body
