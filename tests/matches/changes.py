"""Every leaf of a JSON value, and values like it: what a property over all fields walks through."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str | int, ...]


def leaves(value: Any, path: Path = ()) -> Iterator[Path]:
    """The path of every text, number and null in `value`."""
    if isinstance(value, dict | list):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from leaves(item, (*path, key))
    else:
        yield path


def at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def put(value: Any, path: Path, new: Any) -> Any:
    """A copy of `value` with another leaf at `path`."""
    changed = copy.deepcopy(value)
    at(changed, path[:-1])[path[-1]] = new
    return changed


def others(old: Any) -> st.SearchStrategy[Any]:
    """Values that are not `old`: near it, of its type, and of other types."""
    near: list[st.SearchStrategy[Any]] = [
        st.sampled_from([None, True, False, 0, 1, 1.5, "", "0", [], {}, "B1", "player", "computer"])
    ]
    if isinstance(old, str):
        digits = st.text("0123456789abcdef", min_size=len(old), max_size=len(old))
        flipped = st.integers(0, max(len(old) - 1, 0)).map(
            lambda n: old[:n] + ("1" if old[n : n + 1] != "1" else "2") + old[n + 1 :]
        )
        near += [digits, flipped, st.text(max_size=20), st.just(old.upper()), st.just(old + "0")]
    elif isinstance(old, int):
        near += [st.integers(), st.just(old + 1), st.just(old - 1), st.floats(allow_nan=False)]
    return st.one_of(near).filter(lambda new: type(new) is not type(old) or new != old)
