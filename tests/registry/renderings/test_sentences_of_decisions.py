"""Sentences about rankings that a referee would leave: nothing false, nothing about what was not measured."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from registry.renderings.ranking import page
from registry.renderings.sheet import Lines, text
from registry.renderings.verdicts.estimate import Estimate, Yardstick
from registry.renderings.verdicts.ranking import open_pair, ranking_verdict
from registry.results.ranking import RankedScale, Ranking
from registry.results.terms import Interval
from tests.workers.statistics.documents import standings
from workers.statistics import rank

pytestmark = pytest.mark.unit


def ranked(values: Any, owners: Any = None, target: str = "rerun", **more: Any) -> Ranking:
    """A ranking on percent as it is answered; without trials nothing is known of the noise."""
    given = standings(values, owners, **more)
    found = rank(given, target=target)
    used = tuple(given.benchmark_names[i] for i in np.unique(given.benchmarks))
    return replace(
        found, by="model", benchmarks=used, scale=RankedScale("%", given.direction, given.lower, given.upper)
    )


def test_of_five_equal_models_none_comes_first() -> None:
    told = ranking_verdict(ranked([[60.0, 70.0]] * 5, trials=np.full((5, 2), 100))).sentence
    assert told.startswith("The tests separate none of the 5 models over 1 benchmark, which all share the first rank: ")
    assert "comes first" not in told
    two = ranking_verdict(ranked([[61.0], [60.0], [61.0]], trials=np.full((3, 1), 100))).sentence
    assert "comes first" not in two
    assert "share the first rank" not in two


def test_what_half_of_the_pairs_could_show_is_said_of_half_of_the_pairs_with_its_power() -> None:
    """The quantiles of 1 - .05 / 1,560 and .8 are 4.00 and .84: of 100 sqrt(2 x .5 x .5 / 100) = 7.07 points on the
    noisier side of .6, and of 100 sqrt((.67 x .33 + .33 x .67) / 100) = 6.65 where the rates are .67 and .33."""
    told = ranking_verdict(ranked([[60.0 + i / 100] for i in range(40)], trials=np.full((40, 1), 100))).sentence
    assert "though m39 comes first" in told
    assert "half of the pairs have 80 % power to show a true difference of 34 points." in told
    assert "would have been found" not in told


def test_where_every_trial_came_out_the_same_there_is_no_difference_within_what_so_many_leave_open() -> None:
    """By the binomial law 1 - .025^(1 / 400) = 0.92 points are left open; the test is 5 % wider there."""
    told = ranking_verdict(ranked([[100.0] * 4] * 2, trials=np.full((2, 4), 100))).sentence
    assert told.startswith(
        "m0 and m1 are equal on average within 2 points (2 % of the metric's range) on the 4 cells that both have:"
    )
    assert "they differ by 0.00 points (95 % interval -0.97 to 0.97)" in told


def test_without_noise_a_rerun_is_left_open_and_other_benchmarks_are_not() -> None:
    values = [[56.5, 67.0, 76.6], [50.0, 60.0, 70.0]]
    rerun = ranking_verdict(ranked(values, [0, 1, 2]))
    assert (rerun.answer, "is not known" in " ".join((rerun.sentence, *rerun.more))) == ("open", True)
    others = ranking_verdict(ranked(values, [0, 1, 2], "new_benchmarks"))
    assert others.answer == "shown"
    assert others.sentence.endswith("; this is about other benchmarks of the kind.")
    many = ranking_verdict(ranked([*values, [49.0, 61.0, 70.0]], [0, 1, 2])).sentence
    assert many.startswith("Which of the 3 models is best cannot be told: no pair was tested, for the noise of some")


def test_where_lower_is_better_the_lower_one_is() -> None:
    more = {"direction": "lower", "trials": np.full((2, 1), 500)}
    told = ranking_verdict(ranked([[30.0], [50.0]], **more)).sentence
    assert told.startswith("m0 is better than m1 by 20.0 points (lower is better; 95 % interval 14.0 to 25.9)")


def test_a_benchmark_on_another_scale_is_doubted_beside_a_single_one() -> None:
    speed = {"lower": None, "upper": None}
    found = rank(standings([[0.7, 1.0e12], [0.6, 1.2e12], [0.5, 0.9e12]], [0, 1], **speed))
    assert [one.code for one in found.warnings] == ["one_benchmark_dominates"]
    alike = rank(standings([[0.7, 0.4], [0.6, 0.5], [0.5, 0.3]], [0, 1], **speed))
    assert alike.warnings == ()


def test_a_size_without_its_sign_has_the_interval_of_that_size() -> None:
    found = Estimate(-0.8, Interval(0.95, -5.1, 3.5), 0.7, None, 0.05)
    assert found.told(Yardstick("points", None, 1)) == found.turned().told(Yardstick("points", None, 1))
    assert "-3.5 to 5.1" in found.told(Yardstick("points", None, 1)).replace("\u2212", "-")


def test_one_name_that_shares_no_slot_takes_no_answer_from_the_others() -> None:
    values = [[90.0, 91.0, np.nan], [60.0, 61.0, np.nan], [40.0, 41.0, np.nan], [np.nan, np.nan, 50.0]]
    told = ranking_verdict(ranked(values, trials=np.full((4, 3), 500))).sentence
    assert " is first of 3 models, shown to be better than both others" in told


def test_a_name_that_is_better_than_the_first_where_both_were_measured_is_told_with_it() -> None:
    """By its mean difference from all, m0 is first; of 800 trials m1 has 70 % where m0 has 60: z = 4.2 there."""
    no = np.nan
    values = [[80, 81, 82, 83, 60, no, no, no], [no, no, no, no, 70, 50, 51, 52], [50, 51, 52, 53, no, 60, 61, 62]]
    told = ranking_verdict(ranked(values, trials=np.full((3, 8), 800)))
    assert told.answer == "open"
    assert (
        " is first of 3 models, shown to be better than 1 of them; yet m1 is shown to be better than it"
        in told.sentence
    )
    assert "trails" not in told.sentence


def test_where_no_signs_of_the_pairs_that_met_could_show_anything_no_p_is_told() -> None:
    """Two of six pairs share no slot; of the other four the most informative have two slots, so p is 2 / 2^2."""
    none = np.nan
    values = [[50.0, 60.0, none, none], [55.0, 50.0, none, none], [none, none, 70.0, 60.0], [40.0, 50.0, 60.0, 55.0]]
    found = rank(standings(values, [0, 1, 2, 3], trials=np.full((4, 4), 100)), method="win_rate")
    told = ranking_verdict(replace(found, by="model")).sentence
    assert told.endswith("none could: so few results give no p below 0.5000, and Holm corrects for 4 pairs.")
    assert "smallest p" not in told
    tied = rank(standings([[50.0, 60.0]] * 3, [0, 1], trials=np.full((3, 2), 100)), method="win_rate")
    told = ranking_verdict(replace(tied, by="model")).sentence
    assert told.endswith("none could: too few slots are won or lost.")


def test_two_that_do_not_differ_lead_neither() -> None:
    found = ranked([[60.0, 60.0], [60.0, 60.0], [59.0, 59.0]], trials=np.full((3, 2), 800))
    assert " leads " not in ranking_verdict(found).sentence
    assert open_pair(found) is None


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_neighbours_whose_own_difference_is_the_other_way_round_than_the_order_are_told(direction: str) -> None:
    """Of three pairs with one slot each m1 leads m0 by 1, m0 leads m2 by 20 and m1 leads m2 by 5: least squares part
    the 16 points by which these disagree, and leave m0 ahead of m1 by 16 / 3 - 1 = 4.3."""
    none = np.nan
    values = np.array([[50.0, 60.0, none], [51.0, none, 45.0], [none, 40.0, 40.0]])
    values = values if direction == "higher" else 100 - values
    found = ranked(values, trials=np.full((3, 3), 100), direction=direction)
    assert [row.name for row in found.ranking] == ["m0", "m1", "m2"]
    told = "order: the differences of all pairs are solved together; on the cells that both have m1 is ahead of m0"
    assert told in [line for one in page(found) if isinstance(one, Lines) for line in one.lines]
    whole = ranked(np.nan_to_num(values, nan=50.0), trials=np.full((3, 3), 100), direction=direction)
    assert "solved together" not in text(page(whole))
