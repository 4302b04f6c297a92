"""Comparing what a relay holds with what it should hold; pure.

| finding     | the relay                                                                            | bad |
|-------------|--------------------------------------------------------------------------------------|-----|
| missing     | holds no version of a player's score, or not the deletion that covers it             | yes |
| stale       | holds an older version than the newest                                               | yes |
| forged      | holds an event under the app's key that the key has not signed                       | yes |
| unknown     | holds an event that the key has signed and the store does not know: is it stolen?    | yes |
| invalid     | without a store: holds an event that the key has signed and that is no proper score  | yes |
| old-version | holds an older or deleted version beside the newest                                  | no  |
"""

from __future__ import annotations

from collections import defaultdict
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from app.nostr import nip09
from app.nostr.event import InvalidEvent, fault_of, parse_event
from app.scores.score_event import KIND
from app.scores.signed_score import read_deletion
from app.verifier import Check

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Set

    from app.nostr.event import Event
    from app.verifier import Verdict


class Fault(StrEnum):
    """What is wrong, or worth knowing; see the table above."""

    MISSING = "missing"
    STALE = "stale"
    FORGED = "forged"
    UNKNOWN = "unknown"
    INVALID = "invalid"
    OLD_VERSION = "old-version"


class Held(NamedTuple):
    """An event that a relay holds under one of the app's keys."""

    event_id: str
    created_at: int
    names: frozenset[str]
    """The `d` of a score; of a deletion, those that it covers."""
    text: str
    """The event's JSON text, as the relay sent it."""
    signed: bool
    """Whether id and signature hold."""
    reasons: tuple[str, ...]
    """What is wrong with it."""


class Newest(NamedTuple):
    """The newest event of a player: a score, or the deletion of one."""

    event_id: str
    created_at: int
    seq: int = 0
    """Its number in the store, if it is from there."""


class Finding(NamedTuple):
    """One thing found at a relay."""

    fault: Fault
    name: str
    """The player, by the `d` of the address; empty where an event names none."""
    held: Held | None
    """What the relay holds; None for what is missing."""
    newest: Newest | None = None
    """What it should hold, for what is missing or stale."""
    reasons: tuple[str, ...] = ()

    @property
    def bad(self) -> bool:
        """Whether something must be done about it."""
        return self.fault is not Fault.OLD_VERSION


def is_ours(fields: Mapping[str, object], keys: frozenset[str]) -> bool:
    """Whether an event claims to be a score, or a deletion, by one of the app's keys."""
    match fields:
        case {"id": str(), "pubkey": str(pubkey), "created_at": int(), "kind": int() | float() as kind}:
            return pubkey in keys and kind in (KIND, nip09.KIND)
    return False


def examine(fields: Mapping[str, object], text: bytes, verdict: Verdict, keys: frozenset[str]) -> Held:
    """What an event is that `is_ours`.

    Args:
        fields: those of `text`.
        verdict: of the verifier, which says nothing of a deletion.
        keys: the app's public keys, as `app.verifier.app_keys` reads them.
    """
    signed: bool
    reasons: tuple[str, ...]
    names = frozenset({_d(fields.get("tags"))})
    is_score = fields["kind"] == KIND
    if is_score and verdict.failed not in {Check.APP, Check.CONTENT}:
        signed, reasons = verdict.ok, verdict.reasons
    else:  # the five checks have not come to the signature
        event, fault = _read(text)
        signed, reasons = fault is None, (fault,) if fault else ()
        if signed and is_score:
            reasons = verdict.reasons
        elif event and not is_score:
            deletion = read_deletion(event, keys)
            names = deletion.names if deletion else frozenset()
    return Held(str(fields["id"]), int(str(fields["created_at"])), names, text.decode(), signed, reasons)


def newest_of(held: Iterable[Held]) -> dict[str, Newest]:
    """The newest proper event of each player among those held; of two in one second that of the lower id."""
    newest: dict[str, Newest] = {}
    for one in held:
        if one.signed and not one.reasons:
            for name in one.names:
                before = newest.get(name)
                if before is None or _order(one) > _order(before):
                    newest[name] = Newest(one.event_id, one.created_at)
    return newest


def compare(held: Iterable[Held], newest: Mapping[str, Newest], known: Set[str] | None) -> Iterator[Finding]:
    """Everything found at a relay.

    Args:
        held: each event that it holds, once.
        newest: what it should hold of each player.
        known: the ids of all events that the store knows among those held; None without a store.
    """
    of_player: defaultdict[str, list[Held]] = defaultdict(list)
    ids: set[str] = set()
    for one in held:
        name = min(one.names, default="")
        if not one.signed:
            yield Finding(Fault.FORGED, name, one, reasons=one.reasons)
            continue
        ids.add(one.event_id)
        for each in one.names:
            of_player[each].append(one)
        if known is not None and one.event_id not in known:
            yield Finding(Fault.UNKNOWN, name, one, reasons=one.reasons)
        elif known is None and one.reasons:
            yield Finding(Fault.INVALID, name, one, reasons=one.reasons)
    for name, wanted in newest.items():
        here = of_player.get(name, [])
        if wanted.event_id in ids:
            for one in here:
                if _order(one) < _order(wanted):
                    yield Finding(Fault.OLD_VERSION, name, one)
        elif not here:
            yield Finding(Fault.MISSING, name, None, wanted)
        elif _order(last := max(here, key=_order)) < _order(wanted):
            yield Finding(Fault.STALE, name, last, wanted)
        # Else the relay holds a newer one, which has taken the place of this.


def _order(event: Held | Newest) -> tuple[int, int]:
    """By which relays choose between two events of an address: later, then of lower id (NIP-01)."""
    return event.created_at, -int(event.event_id, 16)


def _read(text: bytes) -> tuple[Event | None, str | None]:
    """The event, and what is wrong with it."""
    try:
        event = parse_event(text)
    except InvalidEvent as error:
        return None, str(error)
    return event, fault_of(event)


def _d(tags: object) -> str:
    """What the address of an addressable event ends in, whatever its tags are."""
    for tag in tags if isinstance(tags, list) else ():
        if isinstance(tag, list) and tag[:1] == ["d"]:
            return tag[1] if len(tag) > 1 and isinstance(tag[1], str) else ""
    return ""
