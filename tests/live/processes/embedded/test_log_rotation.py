"""Logs of a home are moved aside while their writers go on."""

from __future__ import annotations

from pathlib import Path

from registry.local.embedded import Home
from registry.local.embedded.home import LARGEST_LOG


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
