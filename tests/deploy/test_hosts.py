"""The figures of `deploy/try-hosts`, from events that are written here by hand."""

from __future__ import annotations

from pathlib import Path

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


def test_half_a_line_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "events").write_text('{"at": 1.0, "act": "read"}\n{"at": 2.0, "a')
    assert read_events(tmp_path / "events") == [{"at": 1.0, "act": "read"}]
