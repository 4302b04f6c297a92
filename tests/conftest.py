"""Fixtures for every test: the real relays, a browser. Property tests never fail for being slow."""

from hypothesis import HealthCheck, settings

from tests.browser import chromium
from tests.bundle import bundle
from tests.relays.real import python_relay_fixture, rust_relay_fixture

__all__ = ["bundle", "chromium", "python_relay_fixture", "rust_relay_fixture"]

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")
