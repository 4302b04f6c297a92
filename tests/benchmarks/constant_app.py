"""A Starlette app that answers GET / with a constant: what an answer of that length costs at least.

`python -m tests.benchmarks.constant_app PORT LENGTH`
"""

import sys

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

BODY = b'"' + b"x" * (int(sys.argv[2]) - 2) + b'"'


async def constant(_request: Request) -> Response:
    return Response(BODY, media_type="application/json")


app = Starlette(routes=[Route("/", constant)])

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="error", lifespan="off")
