"""A child that answers with its arguments and the message: `python -m tests.child.echo WORD...`."""

import sys

from app.child.main import serve


def answer(message: bytes) -> bytes:
    """The arguments and the message; none where it is to end."""
    if message == b"end":
        raise SystemExit
    return " ".join(sys.argv[1:]).encode() + b":" + message


if __name__ == "__main__":
    serve(answer)
