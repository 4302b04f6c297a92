"""The five checks of seed 000 on a score event, and whether the event agrees with itself.

Pure: no settings, no secret, no store, no network. Whatever the event is, the answer is a verdict.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

import orjson

from app.nostr.event import FIELDS, InvalidEvent, fault_of, read_fields, shape
from app.nostr.keys import InvalidKey, parse_pubkey, verify_signature
from app.scores.consistency import (
    claimed_score,
    claimed_username,
    has_version,
    inconsistencies,
    read_content,
    shown,
)
from app.scores.published import read_published
from app.scores.score_event import APP_TAG, KIND

Source = str | bytes | Mapping[str, Any]
AppKeys = str | Iterable[str]

_ID = re.compile(r"[0-9a-f]{64}")


class Check(StrEnum):
    """What an event can fail: `unparsable` is no JSON object; then the five checks in their order."""

    UNPARSABLE = "unparsable"
    KIND = "kind"
    PUBKEY = "pubkey"
    APP = "app"
    SIGNATURE = "signature"
    CONTENT = "content"


class Verdict(NamedTuple):
    """What the checks found; a named tuple, since it is made and sent between processes by the ten thousand.

    A verdict that is not `ok` vouches for nothing, so it carries no username and no score.
    """

    failed: Check | None
    """The first check that failed, None if all five passed."""
    consistent: bool
    """Whether tags and content are exactly what the publisher writes; apart from `failed`."""
    reasons: tuple[str, ...] = ()
    """A sentence for the failed check and for each inconsistency."""
    id: str | None = None
    """The id the event claims, if it has an id's form; proved only if `ok`."""
    username: str | None = None
    """The player's name in the content."""
    score: int | None = None
    """The score in the content, 0 to 120."""

    @property
    def ok(self) -> bool:
        """Whether all five checks passed."""
        return self.failed is None

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON tells it."""
        return {
            "id": self.id,
            "ok": self.ok,
            "failed": self.failed,
            "consistent": self.consistent,
            "reasons": list(self.reasons),
            "username": self.username,
            "score": self.score,
        }


def verify(event: Source, app_pubkey: AppKeys) -> Verdict:
    """Judge an event against the app's public key, or a set of them (hex or npub).

    Args:
        event: JSON text (str, or UTF-8 bytes) or a mapping; repeated keys can be seen in text only.
        app_pubkey: the key or keys that may sign scores.

    Raises:
        ValueError: `app_pubkey` is no key or holds none. No event raises anything.
    """
    return verify_with(event, _single_key(app_pubkey) if type(app_pubkey) is str else app_keys(app_pubkey))


def verify_many(events: Iterable[Source], app_pubkey: AppKeys, workers: int | None = None) -> list[Verdict]:
    """`verify` for many events: one verdict per event, in order.

    Args:
        events: each as `verify` takes it.
        app_pubkey: as `verify` takes it.
        workers: processes (threads, if the caller has threads) for many events; by default one a core.

    Raises:
        ValueError: `app_pubkey` is no key, or `workers` is not positive. No event raises anything.
    """
    from app.verify_pool import verify_all  # here, because the pool stands above this pure module

    return list(verify_all(list(events), app_pubkey, workers))


def app_keys(app_pubkey: AppKeys) -> frozenset[str]:
    """The keys as `verify_with` takes them; raises ValueError like `verify`."""
    if isinstance(app_pubkey, str):
        return _single_key(app_pubkey)
    try:
        keys = frozenset(parse_pubkey(key) for key in app_pubkey)
    except TypeError:
        raise InvalidKey("the app's public key is a text, or a set of texts") from None
    if not keys:
        raise InvalidKey("at least one public key of the app is needed to verify against")
    return keys


@lru_cache
def _single_key(app_pubkey: str) -> frozenset[str]:
    return frozenset({parse_pubkey(app_pubkey)})


def verify_with(event: Source, keys: frozenset[str]) -> Verdict:
    """`verify` for keys that `app_keys` has read."""
    if type(event) is str or type(event) is bytes:
        try:
            text = event.decode() if type(event) is bytes else str(event)
        except UnicodeDecodeError:
            pass  # to be told from what is right below
        else:
            if (verdict := _as_published(text, keys)) is not None:
                return verdict
    try:
        fields, duplicate = read_fields(event)
    except InvalidEvent as error:
        return Verdict(Check.UNPARSABLE, consistent=False, reasons=(str(error),))
    except Exception:  # noqa: BLE001 - a mapping runs code of its own, which may raise anything
        return Verdict(Check.UNPARSABLE, consistent=False, reasons=("reading the mapping raised an error",))
    if duplicate is None and (verdict := _as_published(_respelt(fields), keys)) is not None:
        return verdict
    return _judge(fields, duplicate, keys)


def _as_published(text: str, keys: frozenset[str]) -> Verdict | None:
    """The verdict on a good event as it is published, None on any other: that of `_judge`, but quicker."""
    published = read_published(text, keys)
    if published is None:
        return None
    event_id, pubkey, _, _, username, score, _, digest, signature = published
    if not verify_signature(pubkey, digest, signature):
        return None
    return Verdict(None, True, (), event_id, username, score)


def _respelt(fields: dict[str, Any]) -> str:
    """An event's text in its usual spelling; empty if there is none."""
    try:
        return orjson.dumps({name: fields[name] for name in FIELDS}).decode()
    except (KeyError, orjson.JSONEncodeError):
        return ""


def _judge(fields: dict[str, Any], duplicate: str | None, keys: frozenset[str]) -> Verdict:
    """The verdict on any event, with its reasons."""
    content = read_content(fields.get("content"))
    failure = _first_failure(fields, duplicate, keys, content)
    faults = inconsistencies(fields.get("tags"), content)
    reasons = ([failure[1]] if failure else []) + faults
    return Verdict(
        failed=failure[0] if failure else None,
        consistent=not faults,
        reasons=tuple(dict.fromkeys(reasons)),
        id=_claimed_id(fields),
        username=None if failure else claimed_username(content),
        score=None if failure else claimed_score(content),
    )


def _first_failure(
    fields: dict[str, Any], duplicate: str | None, keys: frozenset[str], content: dict[str, Any] | None
) -> tuple[Check, str] | None:
    """The first of the five checks that fails, and why."""
    kind = fields.get("kind")
    if type(kind) not in (int, float) or kind != KIND:
        return Check.KIND, f"the kind is {shown(kind)}, not {KIND}"
    pubkey = fields.get("pubkey")
    if type(pubkey) is not str or pubkey not in keys:
        return Check.PUBKEY, f"the public key is {shown(pubkey)}, which is not the app's"
    if not _has_app_tag(fields.get("tags")):
        return Check.APP, f"there is no app tag with the value {APP_TAG}"
    if duplicate is not None:
        return Check.SIGNATURE, f"the key {shown(duplicate)} occurs twice in the event"
    try:
        fault = fault_of(shape(fields))
    except InvalidEvent as error:
        fault = str(error)
    if fault is not None:
        return Check.SIGNATURE, fault
    if content is None:
        return Check.CONTENT, "the content is not a JSON object"
    if not has_version(content):
        return Check.CONTENT, f"the content's v is {shown(content.get('v'))}, not 1"
    return None


def _has_app_tag(tags: object) -> bool:
    return isinstance(tags, list) and any(
        isinstance(tag, list) and tag[:2] == ["app", APP_TAG] for tag in tags
    )


def _claimed_id(fields: dict[str, Any]) -> str | None:
    claimed = fields.get("id")
    return claimed if isinstance(claimed, str) and _ID.fullmatch(claimed) else None
