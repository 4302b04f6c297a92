"""Settings: every fault at once, by name, with what to do; the secret nowhere."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.config import MirrorSettings, Settings, StoreSettings
from app.environment import InvalidSettings, load
from tests.environ import environment, faults
from tests.service import PUBKEY, SECRET

ROOT = Path(__file__).parents[1]
ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
SEED_PUBKEY = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
# The example of NIP-19 itself: its nsec, that secret in hex, and its npub.
NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
NSEC_HEX = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
NPUB = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"
NPUB_HEX = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d"


def settings(**values: str) -> Settings:
    return load(Settings, environment(**values))[0]


def test_a_secret_key_is_enough() -> None:
    it, warnings = load(Settings, {"BRISCOLA_SECRET_KEY": SECRET})
    assert warnings == []
    assert it.pubkey == PUBKEY
    assert it.verifying_keys == {PUBKEY}
    assert it.relays == ("wss://nostr.relay.hedwig.sh",)
    assert it.database_url == "sqlite:///briscola-scores.db"
    assert it.public_url is None
    assert it.score_policy == "latest"
    assert it.allow_insecure_key is False
    assert (it.log_level, it.log_format) == ("info", "text")


@pytest.mark.parametrize("text", [NSEC, NSEC.upper(), NSEC_HEX, NSEC_HEX.upper(), f"  {NSEC}\n"])
def test_the_secret_key_is_read_as_hex_or_nsec(text: str) -> None:
    assert settings(SECRET_KEY=text).secret_key.to_hex() == NSEC_HEX


BAD_SECRETS = {
    "ab": "neither 64 hex digits nor an nsec",
    "0" * 64: "zero",
    ORDER: "not below the curve order",
    "f" * 64: "not below the curve order",
    NPUB: "this is an npub",
    NSEC[:-1] + "q": "cannot be read",
    NSEC[:-1]: "cannot be read",
    NSEC_HEX[:-1]: "63 characters",
    NSEC_HEX + "0": "65 characters",
    "0x" + NSEC_HEX: "66 characters",
    "g" * 64: "neither",
    "ÿ" * 64: "neither",
    f"{1:064x}": "known to everybody",
    ORDER[:-1] + "0": "known to everybody",  # n - 1
}


@pytest.mark.parametrize("text", BAD_SECRETS, ids=lambda text: ascii(text[-12:]))
def test_a_bad_secret_key_says_what_is_wrong_and_never_what_it_is(text: str) -> None:
    (fault,) = faults({"BRISCOLA_SECRET_KEY": text})
    assert fault.startswith("BRISCOLA_SECRET_KEY: ")
    assert BAD_SECRETS[text] in fault
    assert len(text) < 3 or text not in fault


@given(st.text(alphabet="0123456789abcdefnsecpub1qxyzNSEC", min_size=8, max_size=80))
def test_no_secret_is_ever_echoed(text: str) -> None:
    try:
        load(Settings, {"BRISCOLA_SECRET_KEY": text})
    except InvalidSettings as error:
        assert text not in str(error)
        assert text not in repr(error)


def test_the_known_key_signs_where_it_is_allowed() -> None:
    for secret in (f"{1:064x}", ORDER[:-1] + "0"):
        assert settings(SECRET_KEY=secret, ALLOW_INSECURE_KEY="1").pubkey == SEED_PUBKEY
        (fault,) = faults(environment(SECRET_KEY=secret, ALLOW_INSECURE_KEY="0"))
        assert "known to everybody" in fault


# the file of the secret


def test_the_secret_key_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{NSEC}\n")
    file.chmod(0o600)
    it, warnings = load(Settings, {"BRISCOLA_SECRET_KEY_FILE": str(file)})
    assert it.secret_key.to_hex() == NSEC_HEX
    assert warnings == []


def test_a_file_without_a_key_is_named_in_the_fault(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("ab")
    file.chmod(0o600)
    (fault,) = faults({"BRISCOLA_SECRET_KEY_FILE": str(file)})
    assert fault.startswith("BRISCOLA_SECRET_KEY_FILE: the secret key is neither 64 hex digits nor an nsec")
    (fault,) = faults({"BRISCOLA_SECRET_KEY_FILE": str(tmp_path / "none")})
    assert fault.startswith("BRISCOLA_SECRET_KEY_FILE: the file cannot be read")


# the others


def test_relays_are_brought_to_one_spelling() -> None:
    given = "https://Relay.Example/, relay.example ,,wss://relay.example:443,ws://other:80/x/"
    assert settings(RELAYS=given).relays == ("wss://relay.example", "ws://other/x")


@pytest.mark.parametrize(
    ("given", "shown", "hidden"),
    [
        ("ftp://relay.example", "'ftp://relay.example'", None),
        ("wss://", "names no host", None),
        ("wss://good.example,wss://bad example", "white space", None),
        ("wss://name:hunter2@relay.example", "password", "hunter2"),
        ("wss://relay.example/#x", "fragment", None),
        ("wss://relay.example:99999", "is no address", None),
        (",", "names no relay", None),
    ],
)
def test_a_faulty_relay_is_named_without_its_password(given: str, shown: str, hidden: str | None) -> None:
    (fault,) = faults(environment(RELAYS=given))
    assert fault.startswith("BRISCOLA_RELAYS: ")
    assert shown in fault
    assert hidden is None or hidden not in fault


def test_older_public_keys() -> None:
    it = settings(PUBLIC_KEYS=f" {NPUB} , {SEED_PUBKEY.upper()},")
    assert set(it.public_keys) == {NPUB_HEX, SEED_PUBKEY}
    assert it.verifying_keys == {NPUB_HEX, SEED_PUBKEY, PUBKEY}


@pytest.mark.parametrize("key", ["ab", "0" * 64, "f" * 64, NSEC, NPUB[:-1]])
def test_a_faulty_public_key_is_never_echoed(key: str) -> None:
    (fault,) = faults(environment(PUBLIC_KEYS=f"{NPUB_HEX},{key}"))
    assert fault.startswith("BRISCOLA_PUBLIC_KEYS: ")
    assert key == "ab" or key not in fault


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("https://scores.example", "https://scores.example"),
        ("https://scores.example/", "https://scores.example"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("https://example.org/a/b/", "https://example.org/a/b"),
        ("http://[::1]:80", "http://[::1]"),
        ("HTTPS://Scores.Example:443/A", "https://scores.example/A"),
        ("https://scores.example:80", "https://scores.example:80"),
    ],
)
def test_a_public_url_is_written_as_browsers_write_it(given: str, kept: str) -> None:
    assert settings(PUBLIC_URL=given).public_url == kept


@pytest.mark.parametrize(
    "url",
    [
        "scores.example", "ftp://scores.example", "https://", "https:///x", "http://[", "https://x:99999",
        "https://x:0", "https://x?y", "https://x#y", "https://x/?", "https://a b", "https://x\r\nX: y",
        "https://例え.example", "https://x/é", "https://me:hunter2@x", "https://x:port", 'https://x/"',
    ],
)  # fmt: skip
def test_what_cannot_begin_a_header_is_no_public_url(url: str) -> None:
    (fault,) = faults(environment(PUBLIC_URL=url))
    assert fault.startswith("BRISCOLA_PUBLIC_URL: ")
    assert "hunter2" not in fault


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///a.db", "sqlite:////var/lib/a.db", "sqlite:///a b/ü.db", "postgres://db.example/scores",
        "postgresql://me:hunter2@db.example:5433/scores?sslmode=require", "postgresql:///scores?host=/run/pg",
    ],
)  # fmt: skip
def test_databases(url: str) -> None:
    assert settings(DATABASE_URL=url).database_url == url


@pytest.mark.parametrize(
    "url",
    [
        "a.db", "sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:///a.db?mode=ro", "sqlite:///file:a.db",
        "sqlite://host/a.db", "mysql://me:hunter2@host/db",
    ],
)  # fmt: skip
def test_other_databases_are_refused_without_their_password(url: str) -> None:
    (fault,) = faults(environment(DATABASE_URL=url))
    assert (
        fault
        == "BRISCOLA_DATABASE_URL: is no database that is supported here: give sqlite:///FILE or postgresql://…"
    )


@pytest.mark.parametrize(
    "url",
    [
        "sqlite:///a%00b.db",
        "sqlite:///a\nb.db",
        "postgresql://me:hunter2%00@host/db",
        "postgresql://host/a%0Ab",
    ],
)
def test_a_database_with_a_control_character_is_refused(url: str) -> None:
    (fault,) = faults(environment(DATABASE_URL=url))
    assert fault == "BRISCOLA_DATABASE_URL: holds a control character: give sqlite:///FILE or postgresql://…"


@pytest.mark.parametrize("url", ["postgresql://me:hunter2@host:port/db", "postgresql://me:hunter2@[host/db"])
def test_no_address_of_a_postgresql(url: str) -> None:
    (fault,) = faults(environment(DATABASE_URL=url))
    assert fault.startswith("BRISCOLA_DATABASE_URL: is no address of a PostgreSQL: give one such as ")
    assert "hunter2" not in fault


def test_without_its_package_a_postgresql_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    (fault,) = faults(environment(DATABASE_URL="postgresql://me:hunter2@host/db"))
    assert fault.endswith("a package is missing: pip install 'briscola-scores[postgres]'")
    assert "hunter2" not in fault


def test_policies_levels_and_formats() -> None:
    it = settings(SCORE_POLICY="best", LOG_LEVEL="debug", LOG_FORMAT="json")
    assert (it.score_policy, it.log_level, it.log_format) == ("best", "debug", "json")
    (fault,) = faults(environment(SCORE_POLICY="Best"))
    assert fault == "BRISCOLA_SCORE_POLICY: 'latest' or 'best'"


def test_a_command_on_the_store_alone_needs_no_secret() -> None:
    it, warnings = load(StoreSettings, environment(SECRET_KEY="ab", DATABASE_URL="sqlite:///x.db"))
    assert it.database_url == "sqlite:///x.db"
    assert warnings == []
    assert not hasattr(it, "secret_key")


def test_the_secret_shows_in_no_form_of_the_settings() -> None:
    it = settings(SECRET_KEY=NSEC)
    forms = [repr(it), str(it), f"{it}", repr(it.model_dump()), it.model_dump_json(), repr(vars(it))]
    forms += [repr(it.secret_key), str(it.secret_key), json.dumps(it.model_dump(mode="json"))]
    for form in forms:
        assert NSEC_HEX not in form
        assert NSEC not in form
        assert str(int(NSEC_HEX, 16)) not in form
    with pytest.raises(TypeError, match="not pickled"):
        pickle.dumps(it)


MIRROR = {"BRISCOLA_PUBLIC_KEYS": f"{NPUB},{PUBKEY},{NPUB_HEX}"}


def test_a_mirror_needs_public_keys_alone() -> None:
    it, warnings = load(MirrorSettings, MIRROR)
    assert warnings == []
    assert it.pubkey == NPUB_HEX, "the first one signs now"
    assert it.verifying_keys == {NPUB_HEX, PUBKEY}
    assert it.relays == ("wss://nostr.relay.hedwig.sh",)
    assert it.score_policy is None


@pytest.mark.parametrize(
    ("text", "what"), [("", "is not set: give the public keys"), (",", "names no key"), ("npub1x", "npub")]
)
def test_a_mirror_without_a_good_key_is_told(text: str, what: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        load(MirrorSettings, {"BRISCOLA_PUBLIC_KEYS": text, "BRISCOLA_RELAYS": "ftp://x"})
    keys, relays = caught.value.faults
    assert keys.startswith("BRISCOLA_PUBLIC_KEYS: ")
    assert what in keys
    assert relays.startswith("BRISCOLA_RELAYS: ")


def test_a_mirror_does_not_read_a_secret(tmp_path: Path) -> None:
    """Not even one that is faulty, or whose file is not there."""
    secrets = {"BRISCOLA_SECRET_KEY": "ab" * 31, "BRISCOLA_SECRET_KEY_FILE": str(tmp_path / "nothing")}
    it, warnings = load(MirrorSettings, MIRROR | secrets)
    assert [warning.partition(":")[0] for warning in warnings] == list(secrets)
    assert not hasattr(it, "secret_key")
    assert "ab" * 31 not in repr(it) + " ".join(warnings)


def test_a_mirror_of_a_key_that_everybody_knows_is_warned() -> None:
    _, warnings = load(MirrorSettings, {"BRISCOLA_PUBLIC_KEYS": SEED_PUBKEY})
    assert len(warnings) == 1
    assert "secret key is 1" in warnings[0]
