"""A home belongs to one registry at a time, and to nobody else; its logs do not grow without end."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from registry.errors import Misconfigured
from registry.local.embedded import Home, embedded_servers
from registry.local.embedded.home import LARGEST_LOG


def test_a_second_start_on_the_same_home_is_refused_until_the_first_has_ended(tmp_path: Path) -> None:
    told = f"in use by another `registry up` .process {os.getpid()}"
    with Home(tmp_path / "h"), pytest.raises(Misconfigured, match=told), Home(tmp_path / "h"):
        pass
    with Home(tmp_path / "h"):
        pass


def test_a_new_home_is_closed_to_others(tmp_path: Path) -> None:
    with Home(tmp_path / "not" / "yet") as home:
        for path in (home.path, home.sockets, home.logs, home.valkey_data):
            assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_directory_with_other_files_is_left_alone_and_a_file_is_no_home(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "thesis.tex").touch()
    for path, told in ((tmp_path, "holds other files"), (tmp_path / "thesis.tex", "cannot be the registry's home")):
        with pytest.raises(Misconfigured, match=told), Home(path):
            pass
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


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


@pytest.mark.parametrize("trap", ["open", "link", "another's"])
def test_a_socket_directory_prepared_by_somebody_else_is_refused(tmp_path: Path, trap: str) -> None:
    home = Home(tmp_path / ("a" * 90))
    if trap == "another's" and os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    try:
        if trap == "link":
            home.sockets.symlink_to(tmp_path)
        else:
            home.sockets.mkdir()
            home.sockets.chmod(0o777 if trap == "open" else 0o700)
        if trap == "another's":
            os.chown(home.sockets, 12345, 12345)
        with pytest.raises(Misconfigured, match="only you can enter"), home:
            pass
    finally:
        home.sockets.unlink(missing_ok=True) if trap == "link" else home.sockets.rmdir()


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
