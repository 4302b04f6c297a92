"""NIP-11: what a relay says of its own limits.

https://github.com/nostr-protocol/nips/blob/master/11.md
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson

MEDIA_TYPE = "application/nostr+json"
_LARGEST = 2**53 - 1  # larger numbers are nonsense in every reader


class NotInformation(ValueError):
    """The text is no relay information document."""


@dataclass(frozen=True, slots=True)
class Limitation:
    """The limits that bear on publishing; what the relay did not say, or said in nonsense, is unlimited.

    Attributes:
        max_message_length: bytes of one message.
        created_at_upper_limit: seconds by which `created_at` may be ahead of the clock.
        min_pow_difficulty: leading zero bits that an event's id must have (NIP-13).
        auth_required: whether clients must authenticate (NIP-42).
        payment_required: whether events of unknown keys are refused until somebody has paid.
    """

    max_message_length: int | None = None
    created_at_upper_limit: int | None = None
    min_pow_difficulty: int = 0
    auth_required: bool = False
    payment_required: bool = False


def information_url(relay: str) -> str:
    """Where the relay with this websocket address serves its document."""
    scheme, _, rest = relay.partition("://")
    return f"{'https' if scheme == 'wss' else 'http'}://{rest}"


def parse_limitation(document: bytes) -> Limitation:
    """Read the `limitation` of a document.

    Raises:
        NotInformation: the document is no JSON object.
    """
    try:
        fields = orjson.loads(document)
    except orjson.JSONDecodeError:
        raise NotInformation("no JSON text") from None
    if not isinstance(fields, dict):
        raise NotInformation("no JSON object")
    limits = fields.get("limitation")
    if not isinstance(limits, dict):
        return Limitation()
    return Limitation(
        max_message_length=_number(limits.get("max_message_length")),
        created_at_upper_limit=_number(limits.get("created_at_upper_limit")),
        min_pow_difficulty=_number(limits.get("min_pow_difficulty")) or 0,
        auth_required=limits.get("auth_required") is True,
        payment_required=limits.get("payment_required") is True,
    )


def _number(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= _LARGEST else None
