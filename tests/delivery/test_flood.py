from __future__ import annotations

import pytest

from app.delivery.flood import Flood


def test_a_few_useless_messages_are_no_flood() -> None:
    flood = Flood()
    assert flood.rest(2000, 0, 100.0) == 0  # 0.4 s
    assert flood.rest(1000, 0, 100.2) == 0  # 0.4 - 0.2 + 0.2 s


def test_many_have_to_be_waited_for_however_they_are_divided() -> None:
    flood = Flood()
    rests = [flood.rest(100, 0, 7.0) for _ in range(200)]
    assert rests[-1] == pytest.approx(20_000 * 0.0002 - 0.5)
    assert flood.rest(0, 0, 7.0 + 4.0) == 0


def test_long_ones_count_by_their_length() -> None:
    assert Flood().rest(10, 40_000_000, 0.0) == pytest.approx(4.0 + 0.002 - 0.5)
