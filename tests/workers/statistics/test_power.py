"""What is detectable by an estimated error is found with the probability that is said."""

import numpy as np
import pytest
from scipy import stats

from workers.statistics.power import by_student, detectable


@pytest.mark.parametrize("level", [0.05, 0.005])
@pytest.mark.parametrize("df", [1, 2, 3, 5, 10, 30])
def test_so_many_estimated_errors_are_found_again_in_eighty_percent(df: int, level: float) -> None:
    """The change is so many of the errors that one experiment estimates; another, with an estimate of its own, tests
    it. Integrated over the quantiles of both estimates, of a true error of 1."""
    quantiles = (np.arange(2_000) + 0.5) / 2_000
    errors = np.sqrt(stats.chi2.ppf(quantiles, df) / df)
    change, reach = detectable(1.0, df, level) * errors[:, None], stats.t.isf(level / 2, df) * errors
    found = stats.norm.sf(reach - change) + stats.norm.cdf(-reach - change)
    assert found.mean() == pytest.approx(0.8, abs=0.006)


def test_with_a_known_error_it_is_the_sum_of_both_quantiles() -> None:
    """Cohen 1988: 1.960 + 0.842 errors at 5 percent, at any so large number of degrees of freedom."""
    both = by_student(np.array([np.inf, 1e15]), 0.05)
    assert both == pytest.approx(stats.norm.isf(0.025) + stats.norm.isf(0.2))
