"""Memory of `serve`: idle, and after 20,000 posts as a ratio to what it took after the first thousand.

`python -m tests.benchmarks.memory [--posts 20000]`. Linux only; two bare relays accept everything.
"""

import argparse
import asyncio
import tempfile
from pathlib import Path

import httpx

from tests.process import Serving, environment, serving
from tests.relays.bare import bare_relay
from tests.service import make_key

CLIENTS = 32
WARM = 1000


async def post(serve: Serving, token: str, first: int, last: int) -> None:
    """Post the scores numbered from `first` to before `last`, each for a name of its own."""
    numbers = iter(range(first, last))
    headers = {"Authorization": f"Bearer {token}"}

    async def client(http: httpx.AsyncClient) -> None:
        for number in numbers:
            body = {"username": f"player{number}", "score": number % 121}
            answer = await http.post("/v1/scores", json=body, headers=headers)
            answer.raise_for_status()

    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=serve.url, limits=limits, timeout=60) as http:
        await asyncio.gather(*(client(http) for _ in range(CLIENTS)))


async def measure(posts: int) -> None:
    with tempfile.TemporaryDirectory() as name, bare_relay() as one, bare_relay() as other:
        _, token = make_key(Path(name) / "scores.db")
        async with serving(environment(Path(name), RELAYS=f"{one},{other}", LOG_LEVEL="error")) as serve:
            idle = serve.resident_mebibytes()
            print(f"idle                {idle:6.1f} MiB")
            await post(serve, token, 0, WARM)
            warm = serve.resident_mebibytes()
            print(f"after {WARM:6,} posts  {warm:6.1f} MiB")
            for done in range(WARM, posts, max(WARM, (posts - WARM) // 4)):
                await post(serve, token, done, min(posts, done + max(WARM, (posts - WARM) // 4)))
            after = serve.resident_mebibytes()
            print(f"after {posts:6,} posts  {after:6.1f} MiB, {after / warm:.2f} of that after {WARM:,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, default=20_000)
    asyncio.run(measure(parser.parse_args().posts))


if __name__ == "__main__":
    main()
