"""F10, an upgrade under way: the code of the release before serves and computes on the schema of this one."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from tests.faults.chaos import stranger_of
from tests.faults.checker import check
from tests.faults.history import History
from tests.faults.scenarios import Script, ready
from tests.faults.stage import PROJECT, Stage, beside
from tests.house import PARTITIONS
from tests.ports import free_port

RELEASED = Path(__file__).with_name("released")


@pytest.mark.skipif(PARTITIONS > 0, reason="the release before knows no project, by which partitions are chosen")
def test_the_release_before_publishes_computes_and_ranks_on_this_schema(stage: Stage, tmp_path: Path) -> None:
    [archive] = RELEASED.glob("*.tar.xz")
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later
        packed.extractall(tmp_path / "code")  # noqa: S202 (our own archive)
    stranger, port, history = stranger_of(stage), free_port(), History()
    with beside(stage, tmp_path, port, code=tmp_path / "code"):
        wire, foreign = stage.wire(port=port), stage.wire(stranger.token, port=port)
        ready(stage, wire)
        script = Script(stage, history, wire)
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
