"""What a score event says in its content, and whether its tags and content agree.

Everything here takes any JSON value in place of tags and content, and never raises.
"""

from __future__ import annotations

from typing import Any, TypeGuard

from app.nostr import json_text
from app.scores.score_event import MAX_SCORE, TAG_NAMES, VERSION, identifier

_CONTENT_FIELDS = ("v", "username", "score")
_SHOWN = 5  # names of surplus fields or tags that a reason lists
_SHOWN_LENGTH = 40


def read_content(content: object) -> dict[str, Any] | None:
    """The JSON object in an event's content, read as `JSON.parse` does; None if there is none."""
    if not isinstance(content, str):
        return None
    try:
        value = json_text.parse(content)
    except json_text.InvalidJson:
        return None
    return value if isinstance(value, dict) else None


def has_version(content: dict[str, Any] | None) -> bool:
    """Whether `v === 1` as JavaScript means it: the number 1 however it is written, and nothing else."""
    return content is not None and _is_number(content.get("v")) and content["v"] == VERSION


def claimed_username(content: dict[str, Any] | None) -> str | None:
    """The player's name if it is a non-empty string."""
    username = content.get("username") if content is not None else None
    return username if isinstance(username, str) and username else None


def claimed_score(content: dict[str, Any] | None) -> int | None:
    """The score if it is a number whose value is an integer from 0 to 120."""
    score = content.get("score") if content is not None else None
    if _is_number(score) and 0 <= score <= MAX_SCORE and score == int(score):
        return int(score)
    return None


def inconsistencies(tags: object, content: dict[str, Any] | None) -> list[str]:
    """Every way in which an event is not what the publisher writes, as sentences; empty if it is."""
    return _content_faults(content) + _tag_faults(tags, claimed_username(content), claimed_score(content))


def shown(value: object) -> str:
    """A JSON value for a message: short, and plain ASCII whatever it holds."""
    if isinstance(value, str):
        return ascii(value) if len(value) <= _SHOWN_LENGTH else ascii(value[:_SHOWN_LENGTH]) + "..."
    if _is_number(value):
        return str(value) if abs(value) < 10**15 else "a number out of range"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else "a list" if isinstance(value, list) else "an object"


def _is_number(value: object) -> TypeGuard[int | float]:
    return type(value) is int or type(value) is float


def _content_faults(content: dict[str, Any] | None) -> list[str]:
    if content is None:
        return ["the content is not a JSON object"]
    faults = []
    if claimed_username(content) is None:
        faults.append("the content's username is not a string, or empty")
    if claimed_score(content) is None:
        faults.append(f"the content's score is not a whole number from 0 to {MAX_SCORE}")
    if others := [key for key in content if key not in _CONTENT_FIELDS]:
        faults.append(f"the content has other fields: {_listed(others)}")
    return faults


def _tag_faults(tags: object, username: str | None, score: int | None) -> list[str]:
    if not isinstance(tags, list):
        return ["tags is not a list"]
    faults = []
    for name in TAG_NAMES:
        found = [tag for tag in tags if isinstance(tag, list) and tag and tag[0] == name]
        if len(found) != 1:
            faults.append(
                f"the tag {name} occurs {len(found)} times" if found else f"the tag {name} is missing"
            )
        faults += [f"a tag {name} has {len(tag)} elements, not 2" for tag in found if len(tag) != 2]
        wanted = _wanted(name, username, score)
        if wanted is not None and any(tag[1:2] != [wanted] for tag in found):
            faults.append(f"the tag {name} is not {shown(wanted)}, as the content has it")
    if others := [tag for tag in tags if not (isinstance(tag, list) and tag and tag[0] in TAG_NAMES)]:
        names = [tag[0] if isinstance(tag, list) and tag else tag for tag in others]
        faults.append(f"there are other tags: {_listed(names)}")
    return faults


def _wanted(name: str, username: str | None, score: int | None) -> str | None:
    """The value of a tag that the content settles."""
    if name == "score" and score is not None:
        return str(score)
    if name == "username":
        return username
    return identifier(username) if name == "d" and username is not None else None


def _listed(names: list[Any]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(map(shown, names[:_SHOWN])) + more
