"""Claims of SciTab (Lu et al. 2023, https://github.com/XinyuanLu00/SciTab, MIT), which people labelled.

Of the first 64,000 characters of `dataset/sci_tab.json` these are the claims that its labels support or refute and that
speak of numbers in the table. `scitab.json` has the numbers that each needs, and the claim in our grammar, written
before any was judged; none was changed afterwards. `id` finds the sentence. Words without numbers are read as in
`docs/claims.md` (comparable: within 3 points; slight, or not considerable: at most 2, and 0.02 of a score up to 1),
*poorly* and *difficult* as the lowest.
"""

from typing import Any

import pytest

from registry.grids.grid import Axis, Grid, Level, Metric
from tests import ROOT
from tests.workers.claims.scenes import judged, rows_of, source
from workers.claims.facts import Facts

pytestmark = [pytest.mark.unit, pytest.mark.usefixtures("unplanned")]

CLAIMS = rows_of("scitab.json")
SCORE = Metric("score", None, "higher", -1000.0, 1000.0)
EXPECTED = {"supports": "supported", "refutes": "contradicted"}


def facts(one: dict[str, Any]) -> Facts:
    axes = tuple(Axis(name, "nominal", tuple(Level(level) for level in levels)) for name, levels in one["axes"].items())
    return Facts.of([source(Grid(SCORE, axes, tuple(value for row in one["values"] for value in row)))])


def test_the_verdict_is_the_label(subtests: Any) -> None:
    for one in CLAIMS:
        with subtests.test(one["id"]):
            found = judged(facts(one), one["claim"])
            assert found["as_posted"] == EXPECTED[one["label"]], found["sentence"]


def test_the_manual_counts_them() -> None:
    manual = " ".join((ROOT / "docs" / "claims.md").read_text(encoding="utf-8").split())
    supported = sum(one["label"] == "supports" for one in CLAIMS)
    assert f"Checked against {len(CLAIMS)} claims of [SciTab]" in manual
    assert f"all {supported} that people labelled as supported" in manual
    assert f"all {len(CLAIMS) - supported} that they labelled as refuted" in manual
