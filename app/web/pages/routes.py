"""Every route of the pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.web.pages.html import Html
from app.web.pages.leaderboard import LeaderboardPage
from app.web.pages.play import PlayPage
from app.web.pages.protocol import ProtocolPage
from app.web.protocol import protocol_document

if TYPE_CHECKING:
    from starlette.routing import BaseRoute

    from app.config import MirrorSettings, Settings
    from app.web.board import BoardView
    from app.web.limits import Limits


def page_routes(
    settings: Settings | MirrorSettings,
    public_url: str,
    view: BoardView,
    limits: Limits,
    *,
    matches: bool = False,
) -> list[BaseRoute]:
    """The pages over a board, and the files that they load; `matches`: whether proved hands are played."""
    html = Html(public_url, settings.public_relays, settings.verifying_keys)
    document = protocol_document(settings)
    return [
        *LeaderboardPage(html, view, matches=matches).routes(),
        *PlayPage(html, public_url if matches else "").routes(),
        *ProtocolPage(html, document, view.source.board, limits).routes(),
        *html.assets.routes(),
    ]
