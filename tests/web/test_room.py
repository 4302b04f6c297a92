"""So many at once, and half of them for one address."""

from __future__ import annotations

from app.web.room import Room


def test_one_address_takes_half() -> None:
    room = Room(4)
    assert [room.admit("a") for _ in range(3)] == [True, True, False]
    assert [room.admit("b"), room.admit("c"), room.admit("d")] == [True, True, False]


def test_a_shared_address_takes_all_but_no_more() -> None:
    room = Room(3)
    assert [room.admit("proxy", shared=True) for _ in range(4)] == [True, True, True, False]


def test_who_leaves_makes_room() -> None:
    room = Room(2)
    assert (room.admit("a"), room.admit("a")) == (True, False)
    room.release("a")
    assert (room.admit("a"), room.admit("b"), room.admit("c")) == (True, True, False)
    assert len(room._held) == 2
    room.release("a")
    assert list(room._held) == ["b"], "nobody who left is remembered"
