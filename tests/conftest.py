"""Fixtures for every test: real relays, databases, a browser. Property tests never fail for being slow."""

import os

from hypothesis import HealthCheck, settings

from tests.browser import chromium
from tests.bundle import bundle
from tests.children import started
from tests.postgres import empty_url, postgres_fixture, url
from tests.relays.real import python_relay_fixture, rust_relay_fixture

__all__ = [
    "bundle",
    "chromium",
    "empty_url",
    "postgres_fixture",
    "python_relay_fixture",
    "rust_relay_fixture",
    "started",
    "url",
]

settings.register_profile("unhurried", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("unhurried")

# Commands are tried as people run them, who have their output buffered.
os.environ.pop("PYTHONUNBUFFERED", None)
