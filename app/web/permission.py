"""What a principal may do at all; who owns a name is for the ledger to say, in the transaction that signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.scores.score_event import identifier
from app.web.problems import Problem

if TYPE_CHECKING:
    from app.principal import Principal


def require_publisher(principal: Principal, username: str) -> None:
    """Check that a principal may publish under this name if it is theirs.

    Raises:
        Problem: 403, if not.
    """
    if principal.key_id and not principal.may_publish_any and principal.names is None:
        raise Problem("forbidden", "This API key may not publish: use one with the scope publish:any.")
    require_name(principal, username)
    if principal.username is not None and principal.username != username:
        raise Problem(
            "forbidden", f"You are signed in as {principal.username!r}: publish under that name, spelled so."
        )


def require_name(principal: Principal, username: str) -> None:
    """Check that a principal is not limited to other names.

    Raises:
        Problem: 403, if it is.
    """
    if principal.names is not None and identifier(username) not in principal.names:
        raise Problem("forbidden", "This API key is limited to other names: use another key for this one.")
