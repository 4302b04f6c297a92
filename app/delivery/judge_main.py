"""The process that checks signatures beside the reader: `python -m app.delivery.judge_main KEY...`."""

from __future__ import annotations

import io
import sys
from functools import partial
from typing import TYPE_CHECKING

import orjson

from app.child.main import packed, serve
from app.delivery.judge import proof

if TYPE_CHECKING:
    from collections.abc import Sequence


def question(texts: Sequence[bytes]) -> bytes:
    """Events as `answer` takes them: the JSON list of their lengths, packed, and then they themselves."""
    return packed(orjson.dumps(list(map(len, texts)))) + b"".join(texts)


def answer(question: bytes, keys: frozenset[str]) -> bytes:
    """The JSON list of the events' proofs, against these keys of the app (hex)."""
    source = io.BytesIO(question)
    lengths: list[int] = orjson.loads(source.read(int.from_bytes(source.read(4))))
    return orjson.dumps([proof(source.read(length), keys) for length in lengths])


if __name__ == "__main__":
    serve(partial(answer, keys=frozenset(sys.argv[1:])))
