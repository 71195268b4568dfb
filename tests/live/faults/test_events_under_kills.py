"""A feed whose writers, sequencers and readers are killed tells each act once, to all readers in one order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest

from registry.settings import Settings
from registry.storage.database import Database
from tests.live.faults import events_under_kills
from tests.live.faults.events_under_kills import Run


def test_each_act_is_told_once_and_all_readers_have_one_log(settings: Settings, own_database_url: str) -> None:
    mine = Settings(database_url=own_database_url)
    found = events_under_kills.run(mine, Run(seconds=4, writers=4, readers=2, sequencers=2))
    assert found.breaches == ()
    assert found.events == found.acts > 20


def test_the_checker_finds_a_log_that_lacks_a_line(
    settings: Settings, own_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    follow = events_under_kills._follow

    def forgets(database: Database, home: UUID, log: Path, chance: Callable[[], float]) -> None:
        follow(database, home, log, chance)  # type: ignore[arg-type]
        lines = log.read_text().splitlines(keepends=True)
        log.write_text("".join(lines[:-2] + lines[-1:]))

    monkeypatch.setattr(events_under_kills, "_follow", forgets)
    found = events_under_kills.run(Settings(database_url=own_database_url), Run(1, writers=2, readers=1, projects=1))
    assert any("another log" in breach for breach in found.breaches)
