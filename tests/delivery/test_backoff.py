import pytest

from app.delivery.backoff import Backoff, delay


@pytest.mark.parametrize(
    ("failures", "least", "most"),
    [(1, 0.5, 1), (2, 1, 2), (3, 2, 4), (9, 128, 256), (10, 150, 300), (11, 150, 300), (10**6, 150, 300)],
)
def test_the_delay_doubles_up_to_five_minutes(failures: int, least: float, most: float) -> None:
    assert delay(failures, lambda: 0.0) == least
    assert delay(failures, lambda: 1.0) == most


def test_only_a_stable_minute_is_forgiven() -> None:
    backoff = Backoff(lambda: 1.0)
    assert [backoff.after(0) for _ in range(4)] == [1, 2, 4, 8]
    assert backoff.after(59.9) == 16
    assert backoff.after(60) == 1
    assert backoff.after(0) == 2


def test_five_minutes_of_resets_are_few_attempts() -> None:
    backoff, clock, attempts = Backoff(lambda: 0.0), 0.0, 0
    while clock < 300:
        attempts += 1
        clock += backoff.after(0)
    assert attempts == 10  # 0.5 + 1 + 2 + … + 128 = 255.5 seconds after nine, and then 150 more
