"""NIP-01 events: their shape, the bytes their id is taken over, signing and verification."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from app.nostr import json_text
from app.nostr.keys import verify_signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.nostr.keys import SecretKey

MAX_KIND = 65535
MAX_CREATED_AT = 2**53 - 1  # the last integer that every reader, JavaScript's included, writes alike

_HEX = re.compile(r"[0-9a-f]*")
FIELDS = ("id", "pubkey", "created_at", "kind", "tags", "content", "sig")
_JSON_TYPES = frozenset({str, int, float, bool, type(None), list, dict})
_ABSENT = object()


class InvalidEvent(ValueError):
    """What was read is no NIP-01 event; the message says which part is wrong and how."""


@dataclass(frozen=True, slots=True)
class Event:
    """A signed event of the right shape; whether id and signature hold is for `verify_event` to say."""

    id: str
    pubkey: str
    created_at: int
    kind: int
    tags: tuple[tuple[str, ...], ...]
    content: str
    sig: str

    def to_dict(self) -> dict[str, Any]:
        """The event as JSON knows it, keys in the order of NIP-01."""
        return {
            "id": self.id,
            "pubkey": self.pubkey,
            "created_at": self.created_at,
            "kind": self.kind,
            "tags": [list(tag) for tag in self.tags],
            "content": self.content,
            "sig": self.sig,
        }

    def to_json(self) -> str:
        """Compact JSON, keys in the order of NIP-01."""
        return orjson.dumps(self.to_dict()).decode()


def serialize(pubkey: str, created_at: int, kind: int, tags: Sequence[Sequence[str]], content: str) -> bytes:
    """The bytes an event's id is the SHA-256 of: `[0,pubkey,created_at,kind,tags,content]`.

    Escaped as JavaScript's `JSON.stringify` does, which is what every client signs, rather than by NIP-01's
    letter, which would leave most control characters bare.

    Raises:
        InvalidEvent: a text has a lone surrogate, so no UTF-8 form.
    """
    try:
        return orjson.dumps([0, pubkey, created_at, kind, tags, content])
    except orjson.JSONEncodeError:
        raise InvalidEvent("a tag or the content holds a lone surrogate, which has no UTF-8 form") from None


def event_id(pubkey: str, created_at: int, kind: int, tags: Sequence[Sequence[str]], content: str) -> str:
    """An event's id: 64 lower-case hex digits; raises like `serialize`."""
    return hashlib.sha256(serialize(pubkey, created_at, kind, tags, content)).hexdigest()


def sign_event(
    secret: SecretKey, *, created_at: int, kind: int, tags: Sequence[Sequence[str]], content: str
) -> Event:
    """Sign an event with the given key.

    Raises:
        InvalidEvent: a part has the wrong shape.
    """
    fields = {
        "pubkey": secret.pubkey,
        "created_at": created_at,
        "kind": kind,
        "tags": [list(tag) for tag in tags],
        "content": content,
    }
    unsigned = shape({**fields, "id": "0" * 64, "sig": "0" * 128})
    return sign_shaped(secret, created_at=created_at, kind=kind, tags=unsigned.tags, content=content)


def sign_shaped(
    secret: SecretKey, *, created_at: int, kind: int, tags: tuple[tuple[str, ...], ...], content: str
) -> Event:
    """Sign parts whose shape is known to be right; raises InvalidEvent for a lone surrogate only."""
    digest = hashlib.sha256(serialize(secret.pubkey, created_at, kind, tags, content)).digest()
    return Event(digest.hex(), secret.pubkey, created_at, kind, tags, content, secret.sign(digest).hex())


def parse_event(source: str | bytes | Mapping[str, Any]) -> Event:
    """Read an event from JSON text or from a mapping of plain JSON values; unknown fields are ignored.

    Raises:
        InvalidEvent: not a JSON object, a field missing, repeated (seen in text only) or of the wrong shape.
    """
    fields, duplicate = read_fields(source)
    if duplicate is not None:
        raise InvalidEvent(f"the key {duplicate[:40]!a} occurs twice")
    return shape(fields)


def verify_event(event: Event) -> bool:
    """Whether the id is the hash of the event and the signature is its public key's."""
    return fault_of(event) is None


def fault_of(event: Event) -> str | None:
    """Why `verify_event` refuses the event, None if it does not."""
    try:
        data = serialize(event.pubkey, event.created_at, event.kind, event.tags, event.content)
    except InvalidEvent as error:
        return str(error)
    digest = hashlib.sha256(data).digest()
    if digest.hex() != event.id:
        return "the id is not the hash of the event: something was changed after signing"
    if not verify_signature(event.pubkey, digest, bytes.fromhex(event.sig)):
        return "the signature is not this public key's for this id"
    return None


def read_fields(source: str | bytes | Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The fields of an event as they stand, of plain JSON types, and the first key that the text holds twice.

    Raises:
        InvalidEvent: the source is no JSON object.
    """
    if type(source) is str or type(source) is bytes:
        try:
            fields, duplicate = json_text.parse_outermost(source)
        except json_text.InvalidJson as error:
            raise InvalidEvent(str(error)) from None
        if type(fields) is not dict:
            raise InvalidEvent("an event is a JSON object, and this is another JSON value")
        return fields, duplicate
    return _from_mapping(source), None


def _from_mapping(source: object) -> dict[str, Any]:
    """The fields of a mapping; exactly JSON's types (a subclass may lie), and tuples for lists in tags."""
    if not isinstance(source, Mapping):
        raise InvalidEvent(f"an event is JSON text or a mapping, and this is of type {type(source).__name__}")
    fields = {name: source[name] for name in FIELDS if name in source}
    elements: list[Any] = []
    if type(fields.get("tags")) in (list, tuple):
        fields["tags"] = [list(tag) if type(tag) is tuple else tag for tag in fields["tags"]]
        elements = [element for tag in fields["tags"] if type(tag) is list for element in tag]
        elements += fields["tags"]
    for value in (*fields.values(), *elements):
        if type(value) not in _JSON_TYPES:
            raise InvalidEvent(f"the mapping holds a {type(value).__name__}, which is no JSON value")
    return fields


def shape(fields: dict[str, Any]) -> Event:
    """The event in fields of plain JSON types, as `read_fields` gives them.

    Raises:
        InvalidEvent: a field is missing or of the wrong shape.
    """
    return Event(
        id=_hex(fields, "id", 64),
        pubkey=_hex(fields, "pubkey", 64),
        created_at=_integer(fields, "created_at", MAX_CREATED_AT),
        kind=_integer(fields, "kind", MAX_KIND),
        tags=_tags(fields),
        content=_text(fields, "content"),
        sig=_hex(fields, "sig", 128),
    )


# Types are compared exactly: True is an int to Python, and no number to JSON.


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name, _ABSENT)
    if type(value) is not str:
        raise InvalidEvent(f"{name} is missing" if value is _ABSENT else f"{name} is not a string")
    return value


def _hex(fields: dict[str, Any], name: str, length: int) -> str:
    text = _text(fields, name)
    if len(text) != length or not _HEX.fullmatch(text):
        raise InvalidEvent(f"{name} is not {length} lower-case hex digits")
    return text


def _integer(fields: dict[str, Any], name: str, largest: int) -> int:
    value = fields.get(name, _ABSENT)
    if type(value) is float and value.is_integer():
        value = int(value)  # 31250.0 is the same number, and JavaScript writes it without the fraction
    if type(value) is not int:
        raise InvalidEvent(f"{name} is missing" if value is _ABSENT else f"{name} is not an integer")
    if not 0 <= value <= largest:
        raise InvalidEvent(f"{name} is outside 0 to {largest}")
    return value


def _tags(fields: dict[str, Any]) -> tuple[tuple[str, ...], ...]:
    tags = fields.get("tags", _ABSENT)
    if type(tags) is not list:
        raise InvalidEvent("tags is missing" if tags is _ABSENT else "tags is not a list")
    for tag in tags:
        if type(tag) is not list:
            raise InvalidEvent("a tag is not a list")
        if not tag:
            raise InvalidEvent("a tag is empty")
        if any(type(element) is not str for element in tag):
            raise InvalidEvent("a tag holds something that is not a string")
    return tuple(tuple(tag) for tag in tags)
