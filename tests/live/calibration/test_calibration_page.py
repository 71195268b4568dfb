"""The published page says what was counted."""

from __future__ import annotations

from bench.calibration import KEPT, PAGE, page_of, read
from bench.scenarios import all_scenarios


def test_the_page_sums_up_the_counts_of_every_scenario():
    counts = read(KEPT)
    assert list(counts) == [scenario.name for scenario in all_scenarios()]
    assert page_of(counts) == PAGE.read_text(encoding="utf-8")
