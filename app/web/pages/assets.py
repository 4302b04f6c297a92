"""The files that the pages load: names change with the content, so that browsers keep them for good."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.routing import BaseRoute

HERE = Path(__file__).parent
FOLDERS = (HERE / "assets", HERE / "bundle")  # the second is there if the scripts were built

_KEEP = {"Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding"}
_HASH_LENGTH = 12


@dataclass(frozen=True, slots=True)
class _Asset:
    media_type: str
    plain: bytes
    packed: bytes


class Assets:
    """Read once and kept, packed too.

    Args:
        root: the path of the public address, without a slash at its end.
        folders: where the files are; one that is missing holds none.
    """

    def __init__(self, root: str, folders: Iterable[Path] = FOLDERS) -> None:
        self._addresses: dict[str, str] = {}
        self._assets: dict[str, _Asset] = {}
        for file in sorted(file for folder in folders if folder.is_dir() for file in folder.iterdir()):
            data = file.read_bytes()
            known_as = f"{file.stem}-{hashlib.sha256(data).hexdigest()[:_HASH_LENGTH]}{file.suffix}"
            media_type = mimetypes.guess_type(file.name)[0] or "application/octet-stream"
            self._assets[known_as] = _Asset(media_type, data, gzip.compress(data, mtime=0))
            self._addresses[file.name] = f"{root}/assets/{known_as}"

    def address(self, name: str) -> str:
        """The path at which browsers find a file; raises KeyError if there is no such file."""
        return self._addresses[name]

    def script(self, name: str) -> str | None:
        """The path of a bundled script, None if the scripts were not built."""
        return self._addresses.get(name)

    def content(self, name: str) -> bytes:
        """What is in a file; raises KeyError if there is no such file."""
        return self._assets[self._addresses[name].rpartition("/")[2]].plain

    def routes(self) -> list[BaseRoute]:
        """The route of all files."""
        return [Route("/assets/{asset}", self.serve)]

    @promises(Operation({200: Answer("The file.", media_type="*/*")}, ("not-found",)))
    async def serve(self, request: Request) -> Response:
        """A file that the pages load; its name changes with its content."""
        asset = self._assets.get(request.path_params["asset"])
        if asset is None:
            raise Problem(
                "not-found", "There is no such file: load the page again for the names it uses now."
            )
        if takes_gzip(request):
            headers = {**_KEEP, "Content-Encoding": "gzip"}
            return Response(asset.packed, media_type=asset.media_type, headers=headers)
        return Response(asset.plain, media_type=asset.media_type, headers=_KEEP)


def takes_gzip(request: Request) -> bool:
    """Whether the client reads packed answers."""
    return "gzip" in request.headers.get("accept-encoding", "")
