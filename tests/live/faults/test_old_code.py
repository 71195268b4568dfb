"""F10, an upgrade under way: the code of the release before serves and computes on the schema of this one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house import PARTITIONS
from tests.live.faults.chaos import stranger_of
from tests.live.faults.checker import check
from tests.live.faults.history import History, Write
from tests.live.faults.scenarios import Script, ready
from tests.live.faults.stage import PROJECT, Stage, beside
from tests.live.released import unpack_release
from tests.ports import free_port

UPGRADING = Path(__file__).parents[3] / "docs" / "upgrading.md"


@pytest.mark.skipif(PARTITIONS > 0, reason="the release before knows no project, by which partitions are chosen")
def test_the_release_before_publishes_computes_and_ranks_on_this_schema(stage: Stage, tmp_path: Path) -> None:
    code = unpack_release(tmp_path / "code")
    stranger, port, history = stranger_of(stage), free_port(), History()
    back = _way_back(stage, history)
    with beside(stage, tmp_path, port, code=code):
        wire, foreign = stage.wire(port=port), stage.wire(stranger.token, port=port)
        ready(stage, wire)
        script = Script(stage, history, wire)
        script.await_statistics(back)
        first = script.publish("old code", "old")
        script.amend(first)
        script.publish("old code", "old")
        other = script.publish("old code, too", "old")
        script.await_statistics(first, other)
        verdict = check(history, wire, foreign, PROJECT, experiments=["old"])
        assert verdict.good, f"\n{verdict}"
    # What the old code has written, the new code serves.
    again = check(history, stage.wire(), stranger, PROJECT, experiments=["old"])
    assert again.good, f"\n{again}"


def _way_back(stage: Stage, history: History) -> Write:
    """A grid of this code, whose job was deleted as one that was settled long ago, and brought back as
    docs/upgrading.md says."""
    script = Script(stage, history)
    before = script.publish("new code", "new")
    script.await_statistics(before)
    [statement] = re.findall(r"```sql\n(.*?)```", UPGRADING.read_text(), re.DOTALL)
    with stage.sql() as cursor:
        cursor.execute("DELETE FROM derivations WHERE state = 'ready'")
        cursor.execute(statement)
    return before
