"""The figures of `deploy/try-hosts`, from events that are written here by hand."""

from pathlib import Path

import pytest

from deploy.hosts import network
from deploy.hosts.network import awaited_none, shown
from deploy.hosts.scenes import Counted, counted, read_events


def test_a_scene_counts_what_happened_within_it() -> None:
    events = [
        {"at": 9.0, "act": "acknowledged"},
        {"at": 11.0, "act": "write", "status": 201},
        {"at": 11.0, "act": "acknowledged"},
        {"at": 12.0, "act": "read", "status": 200},
        {"at": 13.0, "act": "write", "status": 503},
        {"at": 18.5, "act": "read", "status": 0},
        {"at": 19.0, "act": "write", "status": 201},
        {"at": 19.0, "act": "acknowledged"},
        {"at": 20.0, "act": "acknowledged"},
    ]
    found = counted("cut", events, began=10.0, mended=18.0, ended=20.0)
    assert found == Counted("cut", acknowledged=2, refused=2, answers=5, longest=8.0, back=0.5)


def test_waiting_ends_without_progress_and_not_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(network.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(network.time, "sleep", lambda seconds: now.append(now.pop() + seconds))
    left = iter([3, 3, 2, 2, 2, 1, 1, 1, 0])
    awaited_none(lambda: next(left), "statistics", patience=120.0, every=50.0)
    assert now == [350.0]
    with pytest.raises(TimeoutError, match="1 statistics were left, and not fewer within 120 s"):
        awaited_none(lambda: 1, "statistics", patience=120.0, every=50.0)
    assert now == [500.0]


def test_a_command_that_failed_is_told_without_the_token() -> None:
    told = shown(["curl", "-fsS", "-H", "Authorization: Bearer rgs_secret", "http://10.0.0.1/"])
    assert told == "curl -fsS -H Authorization: Bearer … http://10.0.0.1/"


def test_half_a_line_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "events").write_text('{"at": 1.0, "act": "read"}\n{"at": 2.0, "a')
    assert read_events(tmp_path / "events") == [{"at": 1.0, "act": "read"}]
