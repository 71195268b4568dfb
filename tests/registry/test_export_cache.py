"""Files of exports: written once, bounded, never half."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from registry.api import exports
from registry.settings import Settings


def settings(path: Path, size: int = 10**6) -> Settings:
    return replace(Settings(), exports=str(path), exports_size=size)


def never() -> Iterator[bytes]:
    raise AssertionError("it is there already")
    yield b""


def test_a_file_is_written_once_and_a_failure_leaves_none(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        exports.opened(settings(tmp_path), "name", never())
    assert list(tmp_path.iterdir()) == []
    for pieces in (iter([b"ab", b"c"]), never()):
        with exports.opened(settings(tmp_path), "name", pieces) as file:
            assert file.read() == b"abc"


def test_only_so_much_is_kept_and_what_is_larger_than_all_is_still_read(tmp_path: Path) -> None:
    with exports.opened(settings(tmp_path, 5), "name", [b"x" * 10]) as file:
        assert file.read() == b"x" * 10
    assert list(tmp_path.iterdir()) == []
    for name in "abc":
        exports.opened(settings(tmp_path, 25), name, [b"x" * 10]).close()
    assert len(list(tmp_path.glob("*.export"))) == 2


def test_two_registries_in_one_directory_have_files_of_their_own(tmp_path: Path) -> None:
    one, other = settings(tmp_path), replace(settings(tmp_path), database_url="postgresql://127.0.0.1/other")
    for given, content in ((one, b"one"), (other, b"other")):
        with exports.opened(given, "name", iter([content])) as file:
            assert file.read() == content
