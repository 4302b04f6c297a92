"""What a principal may, in the transaction that signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.principal import ADMIN, PUBLISH_ANY, Principal
from app.store.api_keys import add_key, revoke_key
from app.store.cursor import cursor_of
from app.store.names import Name
from app.store.refusals import KeyRevoked, NameBanned, NameTaken
from app.store.rights import ask_active_keys, check_key, check_name
from tests.store.players import admin, game_server, opened, player

if TYPE_CHECKING:
    from pathlib import Path

OWNER = player(5)
OWNED = Name("alice", OWNER.id, 1_700_000_000, banned=False)


@pytest.mark.parametrize(
    ("principal", "refusal"),
    [
        (OWNER, None),
        (None, None),  # whoever has the secret key at hand
        (Principal("key:1", "1", frozenset({PUBLISH_ANY})), None),
        (player(6), NameTaken),
        (Principal("key:1", "1"), NameTaken),
        (Principal("key:1", "1", frozenset({ADMIN})), NameTaken),
        (Principal("jwt:https://login.example|alice", username="alice"), NameTaken),
    ],
)
def test_a_name_that_is_owned(principal: Principal | None, refusal: type[Exception] | None) -> None:
    if refusal is None:
        assert check_name(OWNED, "alice", principal) is False
    else:
        with pytest.raises(refusal, match="'alice'"):
            check_name(OWNED, "alice", principal)


@pytest.mark.parametrize("principal", [OWNER, None, game_server("1")])
def test_a_banned_name_is_nobodys(principal: Principal | None) -> None:
    with pytest.raises(NameBanned):
        check_name(Name("alice", OWNER.id, 1, banned=True), "alice", principal)


@pytest.mark.parametrize("principal", [OWNER, None, game_server("1")])
def test_a_fresh_name_may_be_taken(principal: Principal | None) -> None:
    assert check_name(None, "alice", principal) is True


def test_a_key_is_good_until_it_is_revoked(tmp_path: Path) -> None:
    with opened(tmp_path / "scores.db") as database, database.writer.begin() as connection:
        kept, _ = add_key(connection, "kept", now=1)
        gone, _ = add_key(connection, "gone", now=1)
        revoke_key(connection, gone.id, now=2)
        everybody = [game_server(kept.id), admin(gone.id), game_server("unknown"), OWNER, None]
        active = ask_active_keys(cursor_of(connection), everybody)()
    assert active == {kept.id}
    for principal in (game_server(kept.id), OWNER, None):
        check_key(principal, active)
    for principal in (admin(gone.id), game_server("unknown")):
        with pytest.raises(KeyRevoked):
            check_key(principal, active)
