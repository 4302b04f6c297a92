from app.delivery.pace import FIRST_WINDOW, WINDOW_LIMIT, Pace


def test_the_window_widens_with_every_accepted_event_up_to_a_limit() -> None:
    pace = Pace(lambda: 1.0)
    pace.accepted()
    assert pace.window == FIRST_WINDOW + 1
    for _ in range(WINDOW_LIMIT):
        pace.accepted()
    assert pace.window == WINDOW_LIMIT


def test_the_window_halves_down_to_one() -> None:
    pace = Pace(lambda: 1.0, window=32)
    widths = []
    for _ in range(7):
        pace.in_vain()
        widths.append(pace.window)
    assert widths == [16, 8, 4, 2, 1, 1, 1]
    pace.reconnected()
    assert pace.window == FIRST_WINDOW


def test_a_rate_limit_stops_sending_longer_each_time_until_something_is_accepted() -> None:
    pace = Pace(lambda: 1.0)
    assert pace.pause(100.0) == 0
    pace.rate_limited(100.0)
    assert pace.pause(100.0) == 1
    pace.rate_limited(100.5)  # the answer to what was sent before
    assert pace.pause(100.5) == 0.5
    pace.rate_limited(101.0)
    assert pace.pause(101.0) == 2
    pace.accepted()
    pace.rate_limited(103.0)
    assert pace.pause(103.0) == 1


def test_events_leave_together() -> None:
    pace = Pace(lambda: 1.0, window=100)
    assert [pace.room(in_flight) for in_flight in (0, 74, 75, 76, 100, 101)] == [100, 26, 25, 0, 0, 0]
    narrow = Pace(lambda: 1.0, window=1)
    assert [narrow.room(in_flight) for in_flight in (0, 1)] == [1, 0]
