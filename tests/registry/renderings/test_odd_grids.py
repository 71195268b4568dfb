"""Odd grids read as a referee reads them: nothing false, nothing twice, nothing about what was not measured."""

import random
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.pages.findings import findings_of
from registry.renderings.changes import blocks
from registry.renderings.verdicts.grid import grid_verdict
from registry.renderings.words import label
from tests.registry.renderings.documents import read
from tests.registry.renderings.test_every_shape_in_every_form import (
    FALSE,
    FREE,
    HIGHER,
    LOWER,
    NEITHER,
    kinds,
    shape,
    steps,
)

N = None
ERRORS = Metric("errors", "errors", "lower", 0.0, None)
BARE = Grid(FREE, (), (5.0,), stderr=(0.0,))
SAID = {
    "one row explains nothing": (
        Grid(HIGHER, (kinds("a"), steps(5)), (90.0, 88.0, 91.0, 70.0, 65.0), 100),
        ["No shares of variance: shares need cells at two levels"], ["100.0 %", "0.0 %"],
    ),
    "as many effects as cells explain nothing": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (90.0, 80.0, 70.0, N, 60.0, N), 100),
        ["No shares of variance: the effects of the axes are as many as the cells"], [],
    ),
    "a fall is one sentence: how far, how surely and from where on": (
        Grid(HIGHER, (steps(7),), (74.4, 73.9, 72.8, 70.1, 66.0, 59.9, 52.8), 500),
        ["Along Step accuracy falls: at 6 it is 21.6 points lower than at 0 (95 % interval 15.7 to 27.3), and below its"
         " first value by more than 2 points from Step 4 on."], ["without a trend"],
    ),
    "without noise a fall has no interval": (
        Grid(HIGHER, (steps(7),), (74.4, 73.9, 72.8, 70.1, 66.0, 59.9, 52.8)),
        ["Along Step accuracy falls from 74.4 % at 0 to 52.8 % at 6."], [],
    ),
    "no trend and ends that are apart do not contradict each other": (
        Grid(HIGHER, (steps(7),), (60.0, 55.0, 50.0, 55.0, 60.0, 66.0, 70.0), 500),
        ["Along Step accuracy varies without a trend, but at 6 it is 10.0 points higher than at 0"], [],
    ),
    "an adjusted mean of more than 100 % is called an extrapolation": (  # 72.625 + (96 - 50.75)
        Grid(HIGHER, (kinds("a", "b", "c"), steps(4)),
             (N, N, 97.0, 95.0, 99.0, 90.0, 60.0, 40.0, 98.0, 91.0, 62.0, 41.0)),
        ["117.9* ", "* outside the metric's bounds, as no mean can be: an extrapolation to unmeasured cells"], [],
    ),
    "one value throughout has no step": (
        Grid(HIGHER, (kinds("l0"), steps(4)), (50.0,) * 4),
        ["no two neighbours differ"], ["largest", "sharp", "assumed"],
    ),
    "equal steps have no largest one": (Grid(FREE, (steps(4),), (1.0, 2.0, 3.0, 4.0)), ["+1"], ["largest", "picked"]),
    "an error of 0 is no known noise": (
        Grid(FREE, (steps(4),), (1.0, 2.0, 3.0, 4.0), stderr=(0.0,) * 4), ["a stderr above 0"], ["Standard error"],
    ),
    "one cell with an error of 0 has no interval": (BARE, ["its noise is not known"], ["interval 5 to 5"]),
    "single cells have no steps": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (90.0, N, N, N, 80.0, N), 100),
        ["No steps: no series has two measured cells"], ["No step is called sharp", "Benjamini", "trend p"],
    ),
    "q counts the series that were tested": (
        Grid(HIGHER, (kinds("a", "b"), steps(5)), (90.0, 85.0, 80.0, 70.0, 60.0, N, N, 70.0, N, N), 200),
        ["over the 1 of 2 series that have one"], ["these 2 series"],
    ),
    "of two cells the page tells the trend alone": (
        Grid(HIGHER, (steps(2),), (90.0, 60.0), 200), ["Falls with Step"], ["finding Breaks", "after 0, by 1"],
    ),
    "numbers beyond reach have no series, and nothing is assumed of them": (
        Grid(FREE, (steps(4),), (1e200, 3e220, 1e240, 9e250)),
        ["No series: the values, errors or axis numbers are not all"], ["assumed", "no axis with an order"],
    ),
    "of many series the first are named as the first": (
        Grid(HIGHER, (kinds(*map(str, range(2001))), steps(2)), (50.0, 90.0) * 2001, 300),
        ["Along Step the first 2,000 of 2,001 series were analysed: all of them rise."], ["of the first"],
    ),
    "values that are no counts are said to be taken as counts": (
        Grid(HIGHER, (steps(3),), (83.4, 77.7, 61.2), 7), ["the tests take the nearest whole count"], ["is 6 of 7"],
    ),
    "where lower is better a rise gets worse": (
        Grid(LOWER, (steps(6),), (5.0, 5.0, 5.0, 20.0, 30.0, 40.0), 200),
        ["above its first value by more than 2 points from Step 3 on", "gets worse: above the first value"],
        ["below the first"],
    ),
    "a zigzag has no onset, and several best cells are not all best": (
        Grid(HIGHER, (steps(8),), (90.0, 60.0) * 4, 200),
        ["varies without trend", "at Step 0; Step 2; and 2 more; with 95 % confidence no other measured cell is"],
        ["gets worse", "shown to be"],
    ),
    "a course that turns says so": (
        Grid(LOWER, (steps(7),), (10.0, 20.0, 30.0, 35.0, 28.0, 18.0, 9.0), 200),
        ["Along Step accuracy rises then falls; at 6 it is 1.0 points lower than at 0",
         "Varies, rises and then falls along Step"], ["no trend"],
    ),
    "cells that agree leave no interval of no width": (
        Grid(HIGHER, (kinds("a", "b", "c"), steps(4)), (50.0, 50.0, 50.0, 60.0) * 3), [], ["[50.00, 50.00]"],
    ),
    "a full grid of one axis is not told again": (
        Grid(HIGHER, (steps(4),), (90.0, 80.0, 70.0, 60.0), 50), ["4 of 4 cells measured (all that it declares)"],
        ["1 of 1", "every level", "best  at"],
    ),
    "who gave the trials is not told which are implied": (
        Grid(HIGHER, (steps(4),), (90.0, 80.0, 70.0, 60.0), 50), ["the given trials explain every value"], ["implied"],
    ),
    "a cell without noise among others is named": (
        Grid(FREE, (kinds("a", "b"), steps(4)), (1.0, 2.0, 3.0, 4.0, 2.0, 3.0, 4.0, 6.0),
             repeats=(3, 3, 3, 3, 3, N, 3, 3), sd=(0.1, 0.2, 0.1, 0.2, 0.1, N, 0.1, 0.2)),
        ["as if none were known: the noise of 1 of 8 cells is unknown: Kind b, Step 1"], ["some cell"],
    ),
    "no ceiling makes courses cross, and a p that was raised is called adjusted": (
        Grid(HIGHER, (kinds("a", "b"), steps(4)), (90.0, 80.0, 60.0, 50.0, 50.0, 60.0, 80.0, 90.0), 200),
        ["adjusted p <0.0001 by chi-squared with 3 df", "adjusted exact p 1.0000"], ["ceiling", "chi-squared p"],
    ),
    "a ceiling is named where only the metric's own scale shows an interaction": (
        Grid(HIGHER, (kinds("a", "b"), steps(2)), (98.0, 90.0, 90.0, 62.0), 1000),  # odds of 49, 9, 9 and 1.6
        ["an end of the scale alone can make that"], [],
    ),
    "what is no proportion has no implied trials": (
        Grid(FREE, (steps(4),), (1.25, 2.5, 3.75, 5.0)), ["decimals: 2"], ["implied"],
    ),
    "quotients of counts are written as finely as their trials": (
        Grid(Metric("accuracy", None, "higher", 0, 1), (steps(4),), (9 / 30, 10 / 30, 25 / 30, 3 / 30), 30),
        ["best accuracy: 0.83 ", "0.30 → 0.10"], [],
    ),
    "cells that all tie rule none out": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (50.0,) * 6, 100),
        ["each of the 6 may be, with 95 % confidence; all have 50 %.", "each of the 6 cells may be the best"],
        ["better"],
    ),
    "what nothing could show is no legend, and no change of a percentage is beyond 100": (
        Grid(HIGHER, (steps(5),), (30.0, 100 / 3, 200 / 3, 250 / 3, 10.0)),
        ["inconclusive: no trend was shown", "[-100.0, 100.0]"], ["could have shown"],
    ),
    "six points of two values are not too few": (
        Grid(FREE, (kinds("a", "b"), steps(6)), (1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)),
        ["too many ties", "so many of the 6 values tie that no ordering of them has a p below 0.05"],
        ["too few points [", "too few points\n"],
    ),
    "a row a thousand times smaller has decimals of its own, and shares of nothing are 0": (
        Grid(FREE, (kinds("a", "b"), steps(6)),
             (1e9, 1.1e9, 1.3e9, 1.2e9, 1.4e9, 1.5e9, 1.0, 1.2, 1.1, 1.3, 1.5, 1.4)),
        ["+0.500 [ -0.500, 1.000]", "1.25 [ 1.05, 1.45]"], ["[0, 0]", "[1, 1]"],
    ),
    "two cells do not vary without a trend": (  # Fisher's p is 0.056, chi-squared's 0.045
        Grid(HIGHER, (steps(2),), (50.0, 60.0), 200), ["inconclusive"], ["varies"],
    ),
    "one reason is one note, and what was not tested is explained too": (
        Grid(HIGHER, (kinds("a", "b"), steps(4)), (100.0,) * 8, 20),
        ["inconclusive: no trend was shown; could have shown"], ["[3]"],
    ),
    "two cells have Fisher's test alone, and where every step is sharp there is no other": (
        Grid(HIGHER, (kinds("a", "b"), steps(2)), (90.0, 60.0, 80.0, 50.0), 100),
        ["trend p: Fisher's exact test of two cells (in"], ["binomial regression", "another step"],
    ),
    "a change along the slope is told apart from one of two cells, at its row": (
        Grid(HIGHER, (kinds("a", "b"), steps(4)), (80.0, 70.0, 60.0, 50.0, 80.0, 79.0, 78.0, 80.0),
             repeats=(3,) * 7 + (N,), sd=(1.0,) * 7 + (N,)),
        ["too few points [2,3]", "[3] change: the slope times the length of the axis",
         "of the runs of these two cells, by Welch's t, where no note says otherwise"], ["axis or of the runs"],
    ),
    "huge and small values have one notation in a row": (  # ± 1.96 √2 errors
        Grid(FREE, (kinds("a", "b"), steps(3)), (1e9, 1.5e9, 2.5e9, 1e-6, 2e-6, 3e-6), stderr=(1e7,) * 3 + (1e-7,) * 3),
        ["1000000000 → 2500000000 +1500000000", "0.000001 → 0.000003 +0.00000200 [0.00000172, 0.00000228]",
         "+500000000 [ 472281924, 527718076]", "+0.00000100 [0.00000072, 0.00000128]"], ["→ 2.5e+09", "[0, 0]"],
    ),
    "what was measured nowhere is told once": (
        Grid(HIGHER, (steps(3),), (N,) * 3), ["0 of 3 cells measured"], ["0 of 1", "is complete", "no cell at"],
    ),
    "few points are told once": (
        Grid(FREE, (steps(3),), (1.0, 2.0, 3.0)), ["[1] exact p and intervals: no ordering of 3"], ["[2]"],
    ),
    "a single series without a course is no test of several": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (50.0, N, N, N, N, 60.0), 100), ["single point"], ["All series"],
    ),
    "means of huge values have the digits that their intervals tell apart": (  # ± 1.96 · 0.05 / 2
        Grid(FREE, (kinds("a", "b"), steps(4)),
             (1e6 + 0.1, 1e6 + 0.2, 1e6 + 0.3, 1e6 + 0.4, 1e6 + 0.5, 1e6 + 0.3, 1e6 + 0.1, 1e6), stderr=(0.05,) * 8),
        ["1000000.250 [1000000.201, 1000000.299]"], ["1000000 [1000000, 1000000]"],
    ),
    "a bad checkpoint leaves three sums of columns, of which no order is rare": (  # 2 of 3! orders are monotone
        Grid(HIGHER, (kinds(*"abcdef"), steps(3)), (80.0, 60.0, 82.0) * 6, 200),
        ["All series together, by the sums of their columns, not in each, no test: no orderings of these sums have a"],
        ["these series have"],
    ),
    "a test of sums of columns says so": (  # of ten pairs eight rise
        Grid(HIGHER, (kinds(*"abcdef"), steps(5)), (80.0, 81.0, 60.0, 82.0, 83.0) * 6, 200),
        ["All series together, by the sums of their columns, not in each: S = 6, "], ["together: S"],
    ),
    "an interval that begins at 0 beside a shown trend is not said to reach to it for lack of one": (
        Grid(FREE, (steps(8),), (1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 3.0, 3.0)),
        ["[0.00, 2.80]", "increasing"], ["reaches to 0"],
    ),
    "dust of an additive table is no share of its noise": (
        Grid(HIGHER, (steps(4, "Depth"), steps(5)),
             tuple(95 - 2.0 * i - 4 * j for i in range(4) for j in range(5)), 200),
        ["on the metric's own scale: 0 times the known noise"], ["e-1"],
    ),
    "one of two cells may be shown to be best one-sided where no trend is": (  # z 1.98, 1.84 with continuity
        Grid(HIGHER, (steps(2),), (60.0, 46.0), 100),
        ["with 95 % confidence no other measured cell is better", "\u221227.08 to 0.00, widened to 0)",
         "0.0 to 27.1, widened to 0 as no trend is shown), which noise may explain"], ["shown to be"],
    ),
    "of one measured cell of many nothing is compared": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (N, N, 5.0, N, N, N), 100),
        ["The only measured cell is Kind a, Step 2: accuracy 5 %.", "Kind a 1 point, 5"], ["better", "→ 5 over"],
    ),
    "known noise that finds nothing on the scale is known": (
        Grid(HIGHER, (steps(2),), (0.0, 100.0), 3), ["even a large change may have been missed"], ["noise unknown"],
    ),
    "one value throughout is within no margin": (
        Grid(FREE, (steps(4),), (1.0,) * 4), ["Along Step loss has one value throughout."], ["margin"],
    ),
    "reasons and tests are said of the series that have them": (
        Grid(FREE, (kinds("a", "b"), steps(5)), (1.0, 2.0, 3.0, 4.0, 5.0, *(1.0,) * 5),
             stderr=(0.1, 0.1, 0.0, *(0.1,) * 7)),
        ["Without the noise of every cell no step of Kind a is called sharp.", "no step of Kind b is called sharp: no",
         "standard errors; Mann–Kendall, two-sided, ties included, of a series without noise"],
        ["no step is called sharp."],
    ),
    "intervals of steps beside a huge row have digits of their own": (  # 0.1 sqrt(2/3) times t with 8 df is 0.19
        Grid(FREE, (kinds("a", "b"), steps(4)), (1e6, 2e6, 1.5e6, 3e6, 2.0, 1.0, 2.5, 2.0),
             repeats=(3,) * 8, sd=(1e5,) * 4 + (0.1,) * 4),
        ["-1.0 [ -1.19, -0.81]"], ["[ -1, -1]"],
    ),
    "what has no better end gets no worse": (
        Grid(NEITHER, (steps(6),), (30.0, 28.0, 25.0, 20.0, 10.0, 5.0), 500), ["Along Step accuracy falls"],
        ["gets worse", "below its first"],
    ),
    "means of repeats imply no trials": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (80.0, 82.0, 86.0, 90.0, 91.0, 77.0), repeats=(3,) * 6,
             sd=(1.0, 2.0) * 3), ["means of repeats"], ["implied", "lattice"],
    ),
    "no floor lies at the end of the scale": (
        Grid(HIGHER, (kinds(*"abcdef"),), (100.0, 100.0, 99.0, 100.0, 98.0, 100.0), 100),
        ["each of the 6 may be"], ["expected at"],
    ),
    "an axis with one level has no course": (
        Grid(HIGHER, (kinds("a", "b"), steps(1)), (90.0, 50.0), 100), [], ["Along Step", "too few points", "1 point"],
    ),
    "rows without a step have no largest one": (
        Grid(HIGHER, (kinds(*map(str, range(12))), steps(5)), (*(50.0,) * 55, 90.0, 80.0, 70.0, 60.0, 40.0), 100),
        ["47 of these"], [" 0 [-13.60"],
    ),
    "the interval of a slope that holds 0 beside a shown trend is explained": (
        Grid(HIGHER, (kinds("a", "b"), steps(5)), (45.0, 70.0, 85.0, 80.0, 85.0, 45.0, 40.0, 60.0, 55.0, 65.0), 20),
        ["its interval is of the slope alone: the direction follows q where they differ"], [],
    ),
    "a course of one trial at each end is told apart from its ends": (
        Grid(HIGHER, (kinds("a"), steps(6)), (100.0, 10.0, 20.0, 60.0, 90.0, 0.0), (1, 200, 200, 200, 200, 1)),
        ["not along a line, though not from end to end", "not along a line: on the logit scale"], [],
    ),
    "an interval is not written as a point": (  # 1.96 errors
        Grid(FREE, (), (1e-7,), stderr=(1e-12,)), ["0.000000099998 to 0.000000100002"], ["0.0000001 to 0.0000001"],
    ),
    "what chance would make of large cells has no more digits than they": (
        Grid(Metric("speed", None, "higher"), (kinds(*"abc"),), (1.0, 1e6, 1e5), stderr=(1.0, 1e6, 1e6)),
        ["would be at or below 1959965 in"], ["1959965."],
    ),
    "series that are too short alone are told together": (  # each rises, in one of 6 orders: 2 / 6 ** 4
        Grid(FREE, (kinds(*"abcd"), steps(3)), (1.0, 2.0, 3.0) * 4),
        ["Along Step 4 series have too few points or too many ties. All together are shown to rise (p 0.0015)."], [],
    ),
    "a slope of a metric without a unit is told without one": (
        Grid(FREE, (steps(3),), (1.0, 2.0, 3.0)), ["(Theil–Sen), per unit of Step"], ["),  per"],
    ),
    "what is counted in itself is said once, and one value is one": (
        Grid(ERRORS, (steps(4),), (3.0, 2.0, 1.0, 0.0)), ["The best value is 0 errors at Step 3;",
        "Along Step the metric errors has too few"], ["best errors is"],
    ),
    "cells that agree have what is counted in itself once": (
        Grid(ERRORS, (steps(4),), (0.0,) * 4), ["All 4 cells have 0 errors; which is best"], ["have errors"],
    ),
    "two cells are both": (Grid(ERRORS, (steps(2),), (0.0,) * 2), ["Both cells have 0 errors; which"], ["All 2"]),
    "a metric in the plural has a value": (
        Grid(replace(ERRORS, name="tokens", unit="k"), (steps(2),), (3.0, 2.0)),
        ["The best value of tokens is 2 k at Step 1;"], ["best tokens is"],
    ),
    "a line that leaves out giant steps says nothing of the change": (  # its slope, 1, is that of most pairs
        Grid(FREE, (steps(7),), (1e9, 1.0, 2.0, 3.0, 4.0, 5.0, 1.5e9)),
        ["1000000000 → 1500000000 +1 [-2", "that along a line and that of the ends are more than a hundredfold apart"],
        ["fitted change", "+6 ["],
    ),
    "nor where it, or its ends, do not change at all": (
        Grid(FREE, (kinds("a", "b"), steps(7)), (1e9, 1.0, 2.0, 3.0, 4.0, 5.0, 1e9, *[1.0] * 6, 1e6)),
        ["that along a line and that of the ends are more than a hundredfold apart"], ["fitted change", "+6 [", " 0 ["],
    ),
    "intervals of a step that Holm's p leaves open hold 0, as the test does": (
        Grid(HIGHER, (kinds("a", "b"), steps(3)), (53.0, 59.5, 52.0, 66.0, 61.5, 49.5), 200),
        ["-12.0 [-21.42, 0.00] 0.0822", "where this p is 0.05 or more intervals are widened to 0"], ["-2.26]"],
    ),
    "ends that measured the same are said to have": (
        Grid(HIGHER, (steps(5),), (60.0, 55.0, 50.0, 55.0, 60.0), 500),
        ["shows no trend; at Step 4 it measured the same as at Step 0 (95 % interval -6.1 to 6.1);"], ["it is as at"],
    ),
    "of numbers out of reach nothing is tested, and nothing assumed": (
        Grid(FREE, (Axis("Step", "numeric", tuple(Level(f"{at:g}", at) for at in (1e150, 2e150, 3e150))),),
             (1.0, 2.0, 3.0), stderr=(0.1,) * 3), ["between 10^-100 and 10^100"], ["assumed"],
    ),
}  # fmt: skip


def said(grid: Grid) -> str:
    one = shape("odd", grid)
    verdict = grid_verdict(one.document, read(one.found))
    texts = {name: text for name, text in one.written.items() if name.endswith(".txt") or name.startswith("finding")}
    return "\n".join([verdict.sentence, *verdict.more, *(f"{name}\n{text}" for name, text in texts.items())])


@pytest.mark.parametrize(("grid", "there", "absent"), SAID.values(), ids=SAID)
def test_no_sentence_is_silly(grid, there, absent):
    text = re.sub(r"\s+", " ", said(grid))
    assert [phrase for phrase in there if phrase not in text] == []
    assert [phrase for phrase in absent if phrase in text] == []


COURSES = (
    "flat",
    "line",
    "saturating",
    "step",
    "hinge",
    "spike",
    "zigzag",
    "ties",
    "constant",
    "whole per cent",
    "huge",
)


def truth(course: str, m: int, draw: random.Random) -> list[float]:
    """Values of a course over m levels, between 0 and 100."""
    top, loss, cut = draw.uniform(55, 95), draw.uniform(5, 50), draw.randrange(max(1, m))
    return [
        {
            "line": top - loss * i / max(1, m - 1),
            "saturating": top - loss * 0.5**i,
            "step": top - loss * (i >= cut),
            "hinge": top - loss * max(0, i - cut) / m,
            "spike": top - loss * (i == cut),
            "zigzag": top - loss * (i % 2),
            "ties": round(top, -1),
        }.get(course, top)
        for i in range(m)
    ]


def odd_grid(seed: int) -> tuple[str, Grid]:
    """A grid of a course, with holes, by trials, errors, repeats or nothing."""
    draw = random.Random(seed)
    course, rows, m = draw.choice(COURSES), draw.choice((0, 1, 1, 2, 3, 7)), draw.choice((1, 2, 3, 4, 5, 8, 12))
    n, noise = draw.choice((5, 7, 20, 100, 1000)), draw.choice(("trials", "trials", "stderr", "repeats", "none"))
    values: list[float | None] = []
    for _ in range(max(1, rows)):
        for one in truth(course, m, draw):
            hits = sum(draw.random() < one / 100 for _ in range(n))
            values.append(one if course in ("constant", "ties") else 100 * hits / n)
    if course == "whole per cent":
        values = [float(round(value or 0)) for value in values]
    if course == "huge":
        values = [(value or 0) * 1e7 if i % 3 else value for i, value in enumerate(values)]
    if draw.random() < 0.4:
        values = [N if draw.random() < draw.choice((0.2, 0.9)) else value for value in values]
    axes = (kinds(*(f"k{i}" for i in range(rows))),) if rows else ()
    ordered = draw.choice((steps(m), Axis("Step", "ordinal", tuple(Level(f"s{i}") for i in range(m)))))
    bounded = noise == "trials" and course != "huge"
    metric = (
        draw.choice((HIGHER, LOWER)) if bounded else draw.choice((FREE, Metric("speed", None, "higher"), Metric("x")))
    )
    cells = len(values)
    given: dict[str, Any] = {
        "trials": {"trials": n} if bounded else {},
        "stderr": {"stderr": tuple(draw.choice((0.5, 2.0, 2.0)) for _ in range(cells))},
        "repeats": {"repeats": (3,) * cells, "sd": tuple(draw.choice((0.0, 1.0, 1.5)) for _ in range(cells))},
    }.get(noise, {})
    return course, Grid(metric, (*axes, ordered), tuple(values), **given)


def intervals_of(value: Any, path: str = "") -> Iterator[tuple[str, dict[str, float]]]:
    """Every interval of a document, with its path."""
    if isinstance(value, dict):
        if value.keys() == {"level", "low", "high"} and isinstance(value["low"], float):
            yield path, value
        for name, one in value.items():
            yield from intervals_of(one, f"{path}/{name}")
    elif isinstance(value, list):
        for one in value:
            yield from intervals_of(one, path)


@pytest.mark.parametrize("block", range(8))
def test_two_hundred_odd_grids_say_nothing_false_twice_or_of_what_was_not_measured(block):
    for seed in range(25 * block, 25 * block + 25):
        course, grid = odd_grid(seed)
        one = shape("odd", grid)
        found = one.found
        text, told = said(grid), list(findings_of(one.document, read(found)))
        for why, pattern in FALSE.items():
            assert re.search(pattern, text, re.MULTILINE) is None, (seed, why, re.search(pattern, text, re.MULTILINE))
        entries = [(each.about, *entry) for each in told for entry in each.entries]
        verdict = grid_verdict(one.document, read(found))
        sentences = [verdict.sentence, *verdict.more]
        assert len(set(entries)) == len(entries), seed
        assert len(set(sentences)) == len(sentences), seed
        for path, interval in intervals_of(found):
            assert interval["low"] < interval["high"], (seed, path, interval)
        for series in found["series"]:
            _laws_of(series, found["params"], seed)
        if len({value for value in grid.values if value is not None}) < 2:
            words = r"sharp,|largest|gets worse:|creasing\b(?! need| and decreasing)|[Rr]ises|[Ff]alls|[Vv]aries"
            assert re.search(words, text) is None, (seed, course, re.search(words, text))
        for name in _unmeasured(grid):
            named = [s for s in sentences if re.search(rf"Step {re.escape(name)}[,;.:]", s)]
            named += [entry for entry in entries if entry[0] != "Never measured" and f"Step {name}," in " ".join(entry)]
            assert named == [], (seed, name)


def _laws_of(series: dict[str, Any], params: dict[str, Any], seed: int) -> None:
    onset, measured = series["onset"], series["count"]
    for step in series["changes"]:
        if step["sharp"]:
            assert step["p_holm"] < params["alpha"], seed
            assert abs(step["size"]) >= params["sharp_change"] * (1 - 1e-9), seed
        if step["interval"]:
            assert step["interval"]["low"] <= step["size"] <= step["interval"]["high"], (seed, step)
    if onset and onset["by"] is not None:
        assert (measured > 2, onset["q"] < params["alpha"], onset["until"] != onset["by"]) == (True,) * 3, seed
    if series["direction"] in ("falls_then_rises", "rises_then_falls"):
        lowest = series["summary"]["min"] < min(series["first"], series["last"])
        highest = series["summary"]["max"] > max(series["first"], series["last"])
        assert lowest if series["direction"].startswith("falls") else highest, (seed, series["direction"])


def _unmeasured(grid: Grid) -> list[str]:
    """Levels of the last axis where nothing was measured."""
    levels = grid.axes[-1].levels
    return [
        label(level.label)
        for i, level in enumerate(levels)
        if all(value is None for value in grid.values[i :: len(levels)])
    ]


def test_cells_that_are_all_alike_are_not_said_to_be_missing():
    found = read(shape("odd", Grid(HIGHER, (steps(4),), (100.0,) * 4, 5)).found)
    outstanding = replace(found, series=tuple(replace(one, changes=()) for one in found.series))
    assert [*blocks(outstanding)] == ["No steps: no two neighbours differ."]


def test_a_course_that_turns_is_shown():
    one = shape("turns", Grid(HIGHER, (steps(5),), (90.0, 70.0, 50.0, 72.0, 91.0), 200))
    found = grid_verdict(one.document, read(one.found))
    assert (found.answer, found.sentence[:37]) == ("shown", "Along Step accuracy falls then rises;")
