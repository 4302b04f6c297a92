"""Score events read from the very text in which they are published, without a reader of JSON; pure.

Nearly every event of a board or a file is written in one of two ways: in the order of NIP-01, as this app and
most relays write, or with its keys sorted. What is written otherwise is for the readers of JSON.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, NamedTuple

from app.scores.score_event import APP_TAG, KIND, MAX_SCORE, VERSION, identifier

if TYPE_CHECKING:
    from collections.abc import Container

_NAME = r'([^"\\\x00-\x1f]+)'  # nothing in it that JSON has to escape
_DECIMAL = "([0-9]{1,3})"


def _tags(username: str, decimal: str) -> str:
    return (
        rf'"tags":(\[\["d","{_NAME}"\],\["app","{APP_TAG}"\],'
        rf'\["username","{username}"\],\["score","{decimal}"\]\])'
    )


def _content(username: str, decimal: str) -> str:
    content = rf'\{{\\"v\\":{VERSION},\\"username\\":\\"{username}\\",\\"score\\":{decimal}\}}'
    return rf'"content":("{content}")'


# What is compared with something exact below may be anything here: that is four times as quick as hex digits.
_ID, _PUBKEY, _SIG = '"id":"(.{64})"', '"pubkey":"(.{64})"', '"sig":"(.{128})"'
_CREATED_AT, _KIND = '"created_at":(0|[1-9][0-9]{0,14})', f'"kind":{KIND}'


def _event(*fields: str) -> re.Pattern[str]:
    return re.compile(r"\{" + ",".join(fields) + r"\}", re.DOTALL)


_USUAL = _event(_ID, _PUBKEY, _CREATED_AT, _KIND, _tags(_NAME, _DECIMAL), _content(r"\6", r"\7"), _SIG)
_SORTED = _event(_content(_NAME, _DECIMAL), _CREATED_AT, _ID, _KIND, _PUBKEY, _SIG, _tags(r"\2", r"\3"))
_SCORES = {str(score): score for score in range(MAX_SCORE + 1)}


class Published(NamedTuple):
    """A score event as the publisher writes it. Its id holds; its signature is still to be checked."""

    event_id: str
    pubkey: str
    created_at: int
    d: str
    username: str
    score: int
    text: str
    """The event in the order of NIP-01."""
    digest: bytes
    signature: bytes


def read_published(text: str, keys: Container[str]) -> Published | None:
    """Read an event from its JSON text if it is a consistent score by one of `keys` (hex).

    None says no more than that it is not, that its id is not its hash, or that it is spelt in another way.
    """
    if usual := _USUAL.fullmatch(text):
        event_id, pubkey, created_at, tags, d, username, decimal, content, sig = usual.groups()
    elif found := _SORTED.fullmatch(text):
        content, username, decimal, created_at, event_id, pubkey, sig, tags, d = found.groups()
        text = (
            f'{{"id":"{event_id}","pubkey":"{pubkey}","created_at":{created_at},"kind":{KIND},'
            f'"tags":{tags},"content":{content},"sig":"{sig}"}}'
        )
    else:
        return None
    score = _SCORES.get(decimal)
    if score is None or pubkey not in keys or d != identifier(username):
        return None
    try:
        digest = hashlib.sha256(f'[0,"{pubkey}",{created_at},{KIND},{tags},{content}]'.encode()).digest()
        if digest.hex() != event_id or (signature := bytes.fromhex(sig)).hex() != sig:
            return None
    except ValueError:  # no hex digits, or a lone surrogate, which has no UTF-8 form
        return None
    return Published(event_id, pubkey, int(created_at), d, username, score, text, digest, signature)
