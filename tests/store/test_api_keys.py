"""API keys: shown once, only a hash on disk, found by nothing but the whole key."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from app.store.api_keys import ApiKey, NoSuchKey, add_key, ask_active_keys, find_key, list_keys, revoke_key
from app.store.cursor import cursor_of
from app.store.database import Database
from tests.service import rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection


@contextmanager
def transaction(url: str) -> Iterator[Connection]:
    database = Database(url)
    try:
        with database.writer.begin() as connection:
            yield connection
    finally:
        database.close()


def test_a_key_is_found_by_its_text_alone(url: str) -> None:
    with transaction(url) as connection:
        made, text = add_key(connection, "game server", now=1000.9)
        other, _ = add_key(connection, "another", now=1001)
        assert re.fullmatch(r"bsk_[0-9a-f]{16}_[A-Za-z0-9_-]{43}", text)
        assert made == ApiKey(made.id, "game server", ("publish:any",), 1000, None)
        assert find_key(connection, text) == made
        secret = text.split("_", 2)[2]
        for wrong in (
            text[:-1], text + "x", text.upper(), f"bsk_{other.id}_{secret}", f"bsk_{'0' * 16}_{secret}",
            secret, "", "bsk__", "é", text + "é", f" {text}",
        ):  # fmt: skip
            assert find_key(connection, wrong) is None, wrong


def test_no_two_keys_are_alike(url: str) -> None:
    with transaction(url) as connection:
        made = [add_key(connection, "same", now=1000) for _ in range(50)]
        assert len({text for _, text in made}) == len({key.id for key, _ in made}) == 50
        assert {key.id for key in list_keys(connection)} == {key.id for key, _ in made}


def test_only_the_hash_is_on_disk(tmp_path: Path) -> None:
    path = tmp_path / "k.db"
    with transaction(f"sqlite:///{path}") as connection:
        _, text = add_key(connection, "game server", now=1000)
    secret = text.split("_", 2)[2].encode()
    files = list(tmp_path.iterdir())
    assert files
    for file in files:
        content = file.read_bytes()
        assert secret not in content
        assert text.encode() not in content
    # SHA-256 by the standard library, of the whole text
    assert rows(path, "SELECT hash FROM api_key") == [(hashlib.sha256(text.encode()).hexdigest(),)]


def test_revoking(url: str) -> None:
    with transaction(url) as connection:
        key, text = add_key(connection, "one", now=1000)
        other, _ = add_key(connection, "other", now=1001)
        cursor = cursor_of(connection)
        assert ask_active_keys(cursor, {key.id, other.id, "unknown"})() == {key.id, other.id}
        revoke_key(connection, key.id, now=2000.5)
        revoke_key(connection, key.id, now=3000)
        found = find_key(connection, text)
        assert found is not None
        assert found.revoked_at == 2000, "the first time stands"
        assert ask_active_keys(cursor, {key.id, other.id})() == {other.id}
        assert ask_active_keys(cursor, set())() == set()
        assert [k.revoked_at for k in list_keys(connection)] == [2000, None]
        with pytest.raises(NoSuchKey, match="key list"):
            revoke_key(connection, "unknown", now=1)


@pytest.fixture(name="empty")
def empty_fixture(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()


# The database is only read.
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text())
@example("\0")
def test_no_text_raises(empty: Database, text: str) -> None:
    with empty.reader.begin() as connection:
        assert find_key(connection, text) is None
        assert find_key(connection, f"bsk_{text}_{text}") is None
