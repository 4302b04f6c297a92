"""Fixtures for every test: the real relays."""

from tests.relays.real import python_relay_fixture, rust_relay_fixture

__all__ = ["python_relay_fixture", "rust_relay_fixture"]
