"""API keys are found in the store once, and known by their hash from then on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.database import Database
from app.store.store import Store
from app.web.api_keys import ApiKeyCallers
from tests.service import make_key

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
