"""The client sends back the greatest position that a registry with a replica has told, also from another command."""

import os
import time
from pathlib import Path

import pytest

from results_registry import Transport
from tests.client.tiny import Reply, Tiny


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A state directory of this test's own."""
    monkeypatch.setenv("REGISTRY_SPOOL", str(tmp_path / "state" / "spool"))
    return tmp_path / "state"


def said(position: str) -> Reply:
    return Reply(headers={"Registry-Position": position})


def sent(tiny: Tiny) -> list[str | None]:
    return [seen.headers.get("registry-position") for seen in tiny.seen]


def test_the_greatest_position_is_sent_back(tiny: Tiny) -> None:
    with Transport(tiny.url) as transport:
        tiny.answer(said("0/FF"), said("1/0"), said("0/FFFF"), Reply())
        for _ in range(5):
            transport.get("projects")
    assert sent(tiny) == [None, "0/FF", "1/0", "1/0", "1/0"]


def test_the_next_command_knows_it_and_another_registry_does_not(tiny: Tiny, state: Path) -> None:
    tiny.answer(said("A/1"))
    with Transport(tiny.url) as transport:
        transport.get("projects")
    with Transport(tiny.url) as transport:
        transport.get("projects")
    with Transport(f"{tiny.url}/below") as transport:
        transport.get("projects")
    assert sent(tiny) == [None, "A/1", None]
    assert [file.name[:9] for file in state.iterdir()] == ["position-"] * 2


def test_a_position_of_more_than_a_minute_ago_is_not_sent(tiny: Tiny, state: Path) -> None:
    """A registry that was restored may be far behind it for ever."""
    tiny.answer(said("A/1"), said("0/1"))
    with Transport(tiny.url) as transport:
        transport.get("projects")
    [file] = state.iterdir()
    os.utime(file, (time.time() - 61, time.time() - 61))
    with Transport(tiny.url) as transport:
        transport.get("projects")
        transport.get("projects")
    assert sent(tiny) == [None, None, "0/1"]


def test_who_has_read_from_a_replica_asks_for_positions(tiny: Tiny) -> None:
    tiny.answer(Reply(headers={"Registry-Lag": "0.3"}))
    with Transport(tiny.url) as transport:
        transport.get("projects")
        transport.get("projects")
    assert sent(tiny) == [None, "0/0"]


def test_without_a_place_for_files_it_is_kept_in_memory(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("REGISTRY_SPOOL", str(tmp_path / "file" / "state" / "spool"))
    tiny.answer(said("A/1"))
    with Transport(tiny.url) as transport:
        transport.get("projects")
        transport.get("projects")
    assert sent(tiny) == [None, "A/1"]


def test_a_caller_who_sends_one_is_told_and_then_sends_the_greatest(tiny: Tiny) -> None:
    asking = {"Registry-Position": "0/0"}
    tiny.answer(said("A/1"), said("A/1"), said("B/1"), Reply())
    with Transport(tiny.url) as transport:
        for _ in range(2):
            transport.get("projects", headers=asking)
        with transport.stream("projects", headers=asking) as (_, chunks):
            list(chunks)
        transport.get("projects")
    assert sent(tiny) == ["0/0", "A/1", "A/1", "B/1"]
