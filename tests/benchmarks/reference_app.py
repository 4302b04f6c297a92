"""The least a signing service does: Starlette, a strict pydantic body, a coincurve signature; nothing kept.

`python -m tests.benchmarks.reference_app PORT`
"""

import hashlib
import json
import sys
import time

import uvicorn
from coincurve import PrivateKey
from pydantic import BaseModel, ConfigDict, Field
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

KEY = PrivateKey(bytes(31) + b"\x02")
PUBKEY = KEY.public_key_xonly.format().hex()


class Body(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")
    username: str = Field(min_length=1, max_length=32)
    score: int = Field(ge=0, le=120)


async def post(request: Request) -> JSONResponse:
    body = Body.model_validate_json(await request.body())
    tags = [
        ["d", body.username.lower()],
        ["app", "briscola-score"],
        ["username", body.username],
        ["score", str(body.score)],
    ]
    content = json.dumps({"v": 1, "username": body.username, "score": body.score}, separators=(",", ":"))
    event = {
        "pubkey": PUBKEY,
        "created_at": int(time.time()),
        "kind": 31250,
        "tags": tags,
        "content": content,
    }
    text = json.dumps([0, *event.values()], separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).digest()
    return JSONResponse({"id": digest.hex(), **event, "sig": KEY.sign_schnorr(digest).hex()}, 201)


app = Starlette(routes=[Route("/v1/scores", post, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="error", lifespan="off")
