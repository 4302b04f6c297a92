"""One small document from an address, whatever answers there: bounded in time and size, nothing unpacked."""

from __future__ import annotations

import asyncio

import httpcore  # noqa: F401 - httpx would load it with the first call, and hold up a loop that serves
import httpx

SECONDS = 10.0


class DownloadFailed(Exception):
    """There is no such document; the message says why."""


async def download(client: httpx.AsyncClient, url: str, *, accept: str, limit: int) -> bytes:
    """The body of the answer to GET.

    Args:
        client: decides on proxies, certificates and redirects.
        accept: the media type to ask for.
        limit: bytes at most.

    Raises:
        DownloadFailed: no answer, none within SECONDS, another one than 200, or one that is longer.
    """
    headers = {"Accept": accept, "Accept-Encoding": "identity"}
    try:
        async with asyncio.timeout(SECONDS), client.stream("GET", url, headers=headers) as response:
            if response.status_code != httpx.codes.OK:
                raise DownloadFailed(f"the answer is HTTP {response.status_code}")
            body = b""
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > limit:
                    raise DownloadFailed(f"the document is longer than {limit} bytes")
            return body
    except TimeoutError:
        reason = f"no answer within {SECONDS:.0f} s"
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = str(error) or type(error).__name__
    raise DownloadFailed(reason)
