"""How a call to the service may fail.

ClientError
 ├─ Unreachable         no answer came
 ├─ Refused             the service said no: slug, status, detail, errors, retry_after
 └─ UnexpectedAnswer    whatever answered does not speak this protocol
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import httpx

_SECONDS = re.compile(r"[0-9]{1,9}")


class ClientError(Exception):
    """A call did not come out as it should; the message says why."""


class Unreachable(ClientError):
    """No answer came: the address is wrong, the service is down, or the network is."""


class UnexpectedAnswer(ClientError):
    """What came is no answer of this service: the address may belong to something else."""


class Refused(ClientError):
    """The service refused the call with a problem document (RFC 9457).

    Attributes:
        status: the HTTP status.
        slug: the stable name of the problem, the last part of its `type`.
        detail: what is wrong with this call and what to do.
        errors: faulty fields, `{"field", "message"}` each.
        retry_after: seconds after which it is worth trying again, None if the service named none.
        document: the whole problem document.
    """

    def __init__(self, status: int, document: dict[str, Any], retry_after: int | None) -> None:
        self.status = status
        self.slug = str(document["type"]).rpartition("/")[2]
        self.detail = str(document["detail"])
        self.errors: list[dict[str, str]] = document.get("errors", [])
        self.retry_after = retry_after
        self.document = document
        super().__init__(self.detail)


def unreachable(url: str, error: httpx.TransportError) -> Unreachable:
    """What it means that the request to this address, or its answer, did not come through."""
    return Unreachable(f"no answer from {url}: {str(error) or type(error).__name__}")


def refused_by(response: httpx.Response) -> ClientError:
    """What an answer means that is no good one: a problem document, or anything else."""
    try:
        document = orjson.loads(response.content)
        after = response.headers.get("retry-after", "")
        retry_after = int(after) if _SECONDS.fullmatch(after) else None
        return Refused(response.status_code, document, retry_after)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        where = response.headers.get("location")
        hint = f" to {where}: use that address" if response.is_redirect and where else ""
        return UnexpectedAnswer(f"{response.url} answered with status {response.status_code}{hint}")
