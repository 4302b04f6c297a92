"""The process that replays matches against `master`: `python -m app.replay_main KEY...`."""

from __future__ import annotations

import json
import sys
from functools import partial

from app.child.main import serve
from app.matches.replay import verify_transcript


def answer(transcript: bytes, keys: frozenset[str]) -> bytes:
    """The verdict on a transcript of the app with these keys (hex), as JSON."""
    # Not orjson: a reason may quote a lone surrogate, which only an escape can carry.
    return json.dumps(verify_transcript(transcript, keys).to_dict()).encode()


if __name__ == "__main__":
    serve(partial(answer, keys=frozenset(sys.argv[1:])), nice=10)
