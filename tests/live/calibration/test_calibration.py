"""Every word, interval and set keeps the error rate that it states, counted in seeded worlds with a known truth.

A short share of `bench/calibration.py`, whose full count `docs/calibration.md` sums up; a rate fails here when
it lies beyond its limit by more than four Monte Carlo errors.
"""

from itertools import groupby
from operator import attrgetter

import pytest

from bench.calibration import KEPT, PAGE, broken, counted, page_of, read
from bench.scenarios import all_scenarios

PROMISED = [scenario for scenario in all_scenarios() if scenario.limit is not None]
STATEMENT = attrgetter("statement")
CHOSEN = [one for _, mine in groupby(sorted(PROMISED, key=STATEMENT), STATEMENT) for one in list(mine)[::5]]


@pytest.mark.parametrize("scenario", CHOSEN, ids=lambda scenario: scenario.name)
def test_no_more_errors_than_stated(scenario):
    found = counted(scenario, scenario.runs // 10)
    assert not broken(scenario, found, errors=4), f"{100 * found.rate:.1f} ± {100 * found.error:.1f} %"


def test_the_page_sums_up_the_counts_of_every_scenario():
    counts = read(KEPT)
    assert list(counts) == [scenario.name for scenario in all_scenarios()]
    assert page_of(counts) == PAGE.read_text(encoding="utf-8")
