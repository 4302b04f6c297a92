"""Fixtures for every test: the real relays, the databases. Property tests never fail for being slow."""

from hypothesis import HealthCheck, settings

from tests.postgres import postgres_fixture, url
from tests.relays.real import python_relay_fixture, rust_relay_fixture

__all__ = ["postgres_fixture", "python_relay_fixture", "rust_relay_fixture", "url"]

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
