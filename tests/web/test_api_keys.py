"""API keys are found in the store once, and known by their hash from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.database import Database
from app.store.store import Store
from app.web.api_keys import LOOK_AGAIN, ApiKeyCallers
from tests.service import make_key, revoke

if TYPE_CHECKING:
    from pathlib import Path


async def test_what_was_found_once_is_known(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    key_id, key = make_key(path)
    store = Store(Database(f"sqlite:///{path}"))
    callers = ApiKeyCallers(store)
    assert not callers.knows(key)
    found = await callers.principal(key)
    assert found is not None
    assert (found.id, found.key_id) == (f"key:{key_id}", key_id)
    assert callers.knows(key)
    assert await callers.principal(key) is found
    assert await callers.principal(f"{key}x") is None
    assert not callers.knows(f"{key}x")
    assert key not in repr(vars(callers))
    await store.close()


async def test_a_revoked_key_is_soon_unknown_and_limited_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    key_id, key = make_key(path)
    now = 1000.0
    store = Store(Database(f"sqlite:///{path}"))
    callers = ApiKeyCallers(store, lambda: now)
    assert await callers.principal(key) is not None
    revoke(path, key_id)
    now += LOOK_AGAIN - 1
    assert await callers.principal(key) is not None  # whoever signs refuses it
    now += 1
    assert callers.knows(key)  # until it is looked up, for a good key must not wait behind its neighbours
    assert await callers.principal(key) is None
    assert not callers.knows(key)
    await store.close()


async def test_a_good_key_stays_known(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    _, key = make_key(path)
    now = 1000.0
    store = Store(Database(f"sqlite:///{path}"))
    callers = ApiKeyCallers(store, lambda: now)
    for _ in range(3):
        assert await callers.principal(key) is not None
        assert callers.knows(key)
        now += LOOK_AGAIN
    await store.close()
