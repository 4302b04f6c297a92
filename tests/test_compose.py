"""compose.yaml says what the service understands, and what Docker understands."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from typing import Any

import pytest
import yaml

from app.config import Settings
from app.environment import load
from tests.process import ROOT
from tests.service import SECRET

FILE = ROOT / "compose.yaml"
VARIABLES = {"BRISCOLA_SECRET_KEY": SECRET, "POSTGRES_PASSWORD": "hunter2"}


def composed() -> dict[str, Any]:
    """The file with its variables filled in, as Docker would."""

    def value(found: re.Match[str]) -> str:
        return VARIABLES.get(found["name"]) or found["default"]

    # Docker fills them in after it has read the file, so that what looks like a number stays a text.
    read = json.dumps(yaml.safe_load(FILE.read_text()))
    text = re.sub(r"\$\{(?P<name>\w+):(-(?P<default>[^}]*)|\?[^}]+)\}", value, read)
    assert "${" not in text
    document: dict[str, Any] = json.loads(text)
    return document


def test_both_replicas_run_with_good_settings() -> None:
    services = composed()["services"]
    assert services["scores-1"] == services["scores-2"]
    settings, warnings = load(Settings, services["scores-1"]["environment"])
    assert warnings == []
    assert settings.database_url == "postgresql://briscola:hunter2@postgres:5432/briscola"
    assert services["postgres"]["environment"] == {
        "POSTGRES_USER": "briscola",
        "POSTGRES_PASSWORD": "hunter2",
    }
    assert settings.rate_limit_storage == "redis://redis:6379/0"
    assert settings.relays == ("ws://relay:8080",)
    proxy = services["proxy"]["networks"]["default"]["ipv4_address"]
    assert [str(network) for network in settings.trusted_proxies] == [f"{proxy}/32"]


def test_what_is_named_is_there() -> None:
    document = composed()
    services = document["services"]
    hosts = set(re.findall(r"(?:@|//)([a-z][a-z0-9-]*):\d", str(services["scores-1"]["environment"])))
    assert hosts - {"localhost"} == {"postgres", "redis", "relay"}
    upstreams = re.findall(r"([a-z0-9-]+):8000", document["configs"]["proxy"]["content"])
    assert {*hosts - {"localhost"}, *upstreams} <= set(services)
    volumes = [volume for service in services.values() for volume in service.get("volumes", ())]
    assert {volume.partition(":")[0] for volume in volumes} == set(document["volumes"])


def test_docker_understands_it() -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True).returncode:
        pytest.skip("docker compose is not installed")
    command = [docker, "compose", "--file", str(FILE), "config", "--quiet"]
    read = subprocess.run(command, env=VARIABLES, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr


def test_the_image_holds_what_the_settings_need() -> None:
    install = next(line for line in (ROOT / "Dockerfile").read_text().splitlines() if "pip install" in line)
    assert "'.[postgres,redis]'" in install


def test_no_secret_has_a_default() -> None:
    document = yaml.safe_load(FILE.read_text())
    environment = document["services"]["scores-1"]["environment"]
    for value in (environment["BRISCOLA_SECRET_KEY"], environment["BRISCOLA_DATABASE_URL"]):
        assert ":?" in value
