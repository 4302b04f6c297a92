from collections.abc import Iterator

import pytest

from app.store.database import Database
from tests.store.players import opened


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with opened(url) as database:
        yield database
