"""A home belongs to one registry at a time, and to nobody else; its logs do not grow without end."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from registry.errors import Misconfigured
from registry.local.embedded import Home, embedded_servers
from registry.local.embedded.home import LARGEST_LOG


def test_a_second_start_on_the_same_home_is_refused(tmp_path: Path) -> None:
    with (
        Home(tmp_path / "h"),
        pytest.raises(Misconfigured, match=f"in use by another `registry up` .process {os.getpid()}"),
        Home(tmp_path / "h"),
    ):
        pass


def test_the_lock_is_free_after_the_end(tmp_path: Path) -> None:
    for _ in range(2):
        with Home(tmp_path / "h"):
            pass


def test_a_new_home_is_closed_to_others(tmp_path: Path) -> None:
    with Home(tmp_path / "not" / "yet") as home:
        for path in (home.path, home.sockets, home.logs, home.valkey_data):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_directory_with_other_files_is_left_alone(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Misconfigured, match="holds other files"), Home(tmp_path):
        pass
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_a_home_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Misconfigured, match="cannot be the registry's home"), Home(tmp_path / "file"):
        pass


@pytest.mark.parametrize("name", ["long" * 30, "My Results, 100 % & más"])
def test_sockets_move_where_the_path_cannot_carry_them(tmp_path: Path, name: str) -> None:
    home = Home(tmp_path / name)
    assert home.sockets.parent == Path(tempfile.gettempdir()).resolve()
    with embedded_servers(tmp_path / name) as (database_url, redis_url):
        assert f"host={home.sockets}&" in database_url
        assert str(home.sockets) in redis_url
        assert stat.S_IMODE(home.sockets.stat().st_mode) == 0o700
    assert not home.sockets.exists()


def test_two_long_homes_have_different_sockets(tmp_path: Path) -> None:
    assert Home(tmp_path / ("a" * 90)).sockets != Home(tmp_path / ("a" * 91)).sockets


@pytest.mark.parametrize("trap", ["open", "link"])
def test_a_socket_directory_prepared_by_somebody_else_is_refused(tmp_path: Path, trap: str) -> None:
    home = Home(tmp_path / ("a" * 90))
    try:
        if trap == "open":
            home.sockets.mkdir()
            home.sockets.chmod(0o777)
        else:
            home.sockets.symlink_to(tmp_path)
        with pytest.raises(Misconfigured, match="only you can enter"), home:
            pass
    finally:
        home.sockets.unlink(missing_ok=True) if trap == "link" else home.sockets.rmdir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_socket_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path / ("a" * 90))
    home.sockets.mkdir(mode=0o700)
    os.chown(home.sockets, 12345, 12345)
    with pytest.raises(Misconfigured, match="only you can enter"), home:
        pass
    home.sockets.rmdir()


def test_a_large_log_is_moved_aside_and_its_writer_goes_on(tmp_path: Path) -> None:
    with Home(tmp_path / "home") as home, home.log("web").open("ab", buffering=0) as writer:
        small = home.log("worker")
        small.write_bytes(b"little\n")
        writer.write(b"x" * (LARGEST_LOG + 1))
        home.rotate_logs()
        writer.write(b"afterwards\n")
        assert (home.logs / "web.log").read_bytes() == b"afterwards\n"
        assert (home.logs / "web.log.1").stat().st_size == LARGEST_LOG + 1
        assert small.read_bytes() == b"little\n"
