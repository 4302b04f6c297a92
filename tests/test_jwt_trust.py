"""The settings of the identity provider: all or none, every fault at once."""

from __future__ import annotations

import pytest

from app.config import Settings
from app.environment import InvalidSettings, load

ALL = {
    "BRISCOLA_JWT_ISSUER": "https://login.example",
    "BRISCOLA_JWT_AUDIENCE": "briscola",
    "BRISCOLA_JWT_JWKS_URL": "https://login.example/jwks.json",
    "BRISCOLA_JWT_USERNAME_CLAIM": "preferred_username",
}
KEY = {"BRISCOLA_SECRET_KEY": f"{2:064x}"}


def test_all_or_none() -> None:
    assert load(Settings, KEY)[0].jwt is None
    settings, warnings = load(Settings, KEY | ALL)
    trust = settings.jwt
    assert trust is not None
    assert [trust.issuer, trust.audience, trust.jwks_url, trust.username_claim] == list(ALL.values())
    assert warnings == []


@pytest.mark.parametrize("left_out", ALL)
def test_each_missing_one_is_a_fault(left_out: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load(Settings, KEY | {**ALL, left_out: " "})
    (fault,) = caught.value.faults
    assert fault.startswith(f"{left_out}: is not set, but BRISCOLA_JWT_")


def test_faults_come_together() -> None:
    with pytest.raises(InvalidSettings) as caught:
        load(Settings, {"BRISCOLA_JWT_JWKS_URL": "nowhere"})
    assert sorted(fault.partition(":")[0] for fault in caught.value.faults) == sorted(
        [*ALL, "BRISCOLA_SECRET_KEY"]
    )


@pytest.mark.parametrize("url", ["login.example", "ftp://login.example", "https://", "http://[x"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(InvalidSettings, match="BRISCOLA_JWT_JWKS_URL: is no address"):
        load(Settings, KEY | ALL | {"BRISCOLA_JWT_JWKS_URL": url})


def test_an_address_with_a_password_is_refused_and_not_shown() -> None:
    with pytest.raises(InvalidSettings, match="BRISCOLA_JWT_JWKS_URL: carries a user name") as caught:
        load(Settings, KEY | ALL | {"BRISCOLA_JWT_JWKS_URL": "https://me:sesame@login.example/jwks"})
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        ("http://login.example/jwks", True),
        ("http://10.0.0.1/jwks", True),
        ("http://127.0.0.1:9/jwks", False),
        ("http://[::1]/jwks", False),
        ("http://localhost/jwks", False),
    ],
)
def test_keys_that_come_in_the_clear_are_warned_of(url: str, warned: bool) -> None:
    _, warnings = load(Settings, KEY | ALL | {"BRISCOLA_JWT_JWKS_URL": url})
    assert bool(warnings) is warned
