"""An event that must say one thing only: every part of it is known before it is read, all but its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.nostr.event import fault_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from app.nostr.event import Event


def event_fault(
    event: Event,
    name: str,
    *,
    kind: int,
    signers: Collection[str],
    tags: Sequence[Sequence[str]],
    content: str = "",
) -> str | None:
    """What keeps the event from being just these tags and this content, signed by one of `signers`.

    Returns:
        A sentence that calls the event `name`, None if nothing does.
    """
    if event.kind != kind:
        return f"the {name} is of kind {event.kind}: it must be of kind {kind}"
    if event.pubkey not in signers:
        return f"the {name} is signed by {event.pubkey}, who may not sign it"
    wanted = [tuple(tag) for tag in tags]
    for number, (tag, want) in enumerate(zip(event.tags, wanted, strict=False), 1):
        if tag != want:
            return f"the {name}'s tag {number} is not {want[0]} with the value {want[1]!a}"
    if len(event.tags) != len(wanted):
        names = ", ".join(tag[0] for tag in wanted)
        return f"the {name} has {len(event.tags)} tags: it must have {names} and no others"
    if event.content != content:
        return f"the {name}'s content is not {content!a}"
    if fault := fault_of(event):
        return f"the {name} is not signed: {fault}"
    return None
