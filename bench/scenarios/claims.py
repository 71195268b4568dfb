"""Verdicts on claims beyond noise, in worlds where the truth lies on the edge of what is claimed.

An event is a wrong verdict: supported where the claim is false, or contradicted where it is true. A claim of exactly
the true number is contradicted whenever its confidence set misses on either side.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from registry.claims.grammar import read_claim
from registry.grids.grid import Axis, Grid, Level, Metric
from workers.claims.facts import Facts, Source
from workers.claims.judgement import judge_claim
from workers.claims.trials import trials_needed

PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)
ABOUT = {"experiment": "e", "metric": "m"}
Claim = Mapping[str, Any]


def exactly(number: float) -> dict[str, float]:
    """The number and nothing beside it."""
    return {"about": number, "within": 0}


def world(chance: Chance, truth: Any, trials: tuple[int, int]) -> Facts:
    """Rows T by columns L of binomial cells with these probabilities and ragged trials, NaN: not measured; of three
    dimensions the first are models."""
    p = np.asarray(truth)
    grids = []
    for one in p if p.ndim == 3 else [p]:
        n = chance.integers(trials[0], trials[1], one.shape, endpoint=True)
        k = chance.binomial(n, np.nan_to_num(one))
        grids.append(_grid(np.where(np.isnan(one), None, 100 * k / n), n))
    return _facts(*grids)


def _grid(values: Any, n: Any) -> Grid:
    axes = tuple(
        Axis(name, "numeric", tuple(Level(str(place), float(place)) for place in range(size)))
        for name, size in zip("TL", n.shape, strict=True)
    )
    return Grid(PERCENT, axes, tuple(values.ravel().tolist()), tuple(n.ravel().tolist()))


def _facts(*grids: Grid, revision: int = 1) -> Facts:
    names = [{"benchmark": "B", "model": f"M{place}", "variant": ""} for place in range(len(grids))]
    return Facts.of([Source(name, "", revision, grid.digest, grid) for name, grid in zip(names, grids, strict=True)])


def wrong(
    claims: Sequence[tuple[Claim, bool]], truth: Callable[[], Any], trials: tuple[int, int], chance: Chance
) -> Outcome:
    """One event at most: whether any of the claims, of which it is known whether they are true, gets a wrong verdict.
    Each is judged by itself."""
    facts = world(chance, truth(), trials)
    for claim, is_true in claims:
        answer = judge_claim(read_claim({"about": ABOUT, **claim}), facts).answers["noise"]
        if answer == ("contradicted" if is_true else "supported"):
            return 1, 1
    return 0, 1


def _rows(*rows: float, columns: int = 10) -> Callable[[], Any]:
    return lambda: [[row] * columns for row in rows]


def _steps(p: float, width: float) -> Callable[[], Any]:
    return lambda: [[p, p + width] * 4]


def _falls(p: float, by: float) -> Callable[[], Any]:
    return lambda: [[p] * 5 + [p - by] * 5]


def _crossed(p: float, by: float) -> Callable[[], Any]:
    """A table of two by two, all of whose places are as far as `by` from additive."""
    return lambda: [[p + by, p - by], [p - by, p + by]]


def _models(p: float, columns: int) -> Callable[[], Any]:
    return lambda: [[[p] * columns]] * 3


def wider(p: float) -> list[tuple[str, list[tuple[Claim, bool]], Callable[[], Any]]]:
    """Claims of lasting changes, interactions, gaps and sweet spots."""
    width = 0.08 if p < 0.9 else 0.03
    edges = (100 * width, 100 * width - 1e-6)
    q = max(p, 0.3)
    begins = {"kind": "step", "along": "L", "goes": "down"}
    together = {"kind": "effect", "axes": ["T", "L"], "interaction": True}
    gaps = {"kind": "compare", "of": "gap", "ahead": {"T": [0]}, "behind": {"T": [1]}, "is": "equal", "margin": 0,
            "left": {"L": {"to": 4}}, "right": {"L": {"from": 5}}}  # fmt: skip
    peaks = [{"kind": "extreme", "which": "max", "at": [{"L": at}], "isolated": 0} for at in range(5)]
    spots = [{"kind": "sweet_spot", "at": [{"L": at}]} for at in range(5)]
    return [
        ("step: an onset exactly as deep as its margin",
         [({**begins, "onset": 5, "margin": edges[0]}, False), ({**begins, "onset": 5, "margin": edges[1]}, True),
          ({**begins, "onset": 6, "margin": edges[1]}, False)], _falls(q, width)),
        ("extreme: one of 5 equal cells is isolated", [({"kind": "any_of", "claims": peaks}, False)],
         _rows(p, columns=5)),
        ("effect: an interaction of exactly the width",
         [({**together, "is": "small", "within": edges[0] + 1e-6}, True),
          ({**together, "is": "small", "within": edges[1]}, False)], _crossed(p, width)),
        ("effect: no interaction of 2 by 6", [({**together, "is": "none"}, True)], _rows(p, p / 2, columns=6)),
        ("compare: equal gaps over 5 slots each", [(gaps, True)], _rows(p, p / 2)),
        ("sweet_spot: one of 5 equal coordinates, by regret", [({"kind": "any_of", "claims": spots}, False)],
         _models(p, 5)),
    ]  # fmt: skip


def settings(p: float) -> list[tuple[str, list[tuple[Claim, bool]], Callable[[], Any]]]:
    """Claims on the edge of the truth, by their kinds."""
    sides = {"left": {"T": [0]}, "right": {"T": [1]}}
    cell = {"kind": "value", "where": {"T": [0], "L": [0]}, "is": exactly(100 * p)}
    cells = {"kind": "cells", "is": exactly(100 * p)}
    equal = {"kind": "compare", **sides, "is": "equal", "margin": 0}
    leads = [{"kind": "extreme", "which": "max", "of": "T", "at": [row]} for row in range(5)]
    width = 0.08 if p < 0.9 else 0.05
    within = {"kind": "stable", "along": "L", "where": {"T": [0]}}
    double = {"kind": "compare", **sides, "is": "higher", "by": {**exactly(2), "unit": "factor"}}
    return [
        ("value: a cell", [(cell, True)], _rows(p)),
        ("value: a mean of 10", [({"kind": "value", "of": "mean", "is": exactly(100 * p)}, True)], _rows(p)),
        ("value: the largest of 10", [({"kind": "value", "of": "max", "is": exactly(100 * p)}, True)], _rows(p)),
        ("cells: 20 cells", [(cells, True)], _rows(p, p)),
        ("cells: some of 20 beyond", [({**cells, "is": {"op": ">", "number": 100 * p}, "cells_hold": "any"}, False)],
         _rows(p, p)),
        ("compare: over 10 slots", [(equal, True)], _rows(p, p)),
        ("compare: on one slot", [(equal, True)], _rows(p, p, columns=1)),
        ("compare: a factor of 2", [(double, True)], _rows(p, p / 2)),
        ("extreme: one of 5 equal levels leads", [({"kind": "any_of", "claims": leads}, False)],
         _rows(*[p] * 5, columns=4)),
        ("stable: exactly as wide", [({**within, "within": 100 * width}, True),
                                     ({**within, "within": 100 * width - 1e-6}, False)], _steps(p, width)),
        ("all of: a cell, 20 cells and a comparison", [({"kind": "all_of", "claims": [cell, cells, equal]}, True)],
         _rows(p, p)),
    ]  # fmt: skip


def near_the_ends() -> list[Scenario]:
    """Means of cells that often come out at an end of the scale, also where those of few trials are the noisy ones."""
    worlds: list[tuple[str, Sequence[Sequence[float]], tuple[int, int]]] = [
        ("3 × 6 cells, p 0.99, n 5–2000", [[0.99] * 6] * 3, (5, 2_000)),
        ("2 × 5 cells, p 0.93, n 3–8", [[0.93] * 5] * 2, (3, 8)),
        ("3 × 4 cells, p 0.995, n 50", [[0.995] * 4] * 3, (50, 50)),
        ("10 × 10 cells, p 0.99, n 20", [[0.99] * 10] * 10, (20, 20)),
        ("10 cells, p 0.8 to 0.9999, n 5–500", [[0.8, 0.9, 0.95, 0.99, *[0.9999] * 6]], (5, 500)),
    ]
    found = []
    for name, truth, trials in worlds:
        claim = {"kind": "value", "of": "mean", "is": exactly(100 * float(np.mean(truth)))}
        run = partial(wrong, [(claim, True)], partial(list, truth), trials)
        found.append(Scenario("a mean near an end judged wrongly", name, "at_most", 0.05, run, 1_000))
    return found


LOSS = Metric("loss", None, "lower")
REPEATED = 8
"""Cells of a grid with repeats; all are truly 50, and the last may have more noise than the others."""


def repeated(claim: Claim, is_true: bool, noise: tuple[int, float], chance: Chance) -> Outcome:
    """Whether a claim about cells with so many repeats, the last with so many times the noise, gets a wrong verdict."""
    repeats, ratio = noise
    spread = np.where(np.arange(REPEATED) == REPEATED - 1, ratio, 1.0)
    drawn = np.round(chance.normal(50.0, spread, (repeats, REPEATED)), 9)
    axis = Axis("L", "numeric", tuple(Level(str(place), float(place)) for place in range(REPEATED)))
    means, deviations = (tuple(np.round(one, 9).tolist()) for one in (drawn.mean(axis=0), drawn.std(axis=0, ddof=1)))
    facts = _facts(Grid(LOSS, (axis,), means, repeats=(repeats,) * REPEATED, sd=deviations))
    answer = judge_claim(read_claim({"about": ABOUT, **claim}), facts).answers["noise"]
    return int(answer == ("contradicted" if is_true else "supported")), 1


def repeats() -> list[Scenario]:
    """Claims about cells whose noise is known from repeats alone, alike or not."""
    ends = {"left": {"L": [REPEATED - 1]}, "right": {"L": [0]}}
    leads = [{"kind": "extreme", "which": "max", "at": [{"L": place}]} for place in range(REPEATED)]
    claims: list[tuple[str, Claim, bool]] = [
        ("value: the last cell", {"kind": "value", "where": {"L": [REPEATED - 1]}, "is": exactly(50)}, True),
        ("value: a mean of 8", {"kind": "value", "of": "mean", "is": exactly(50)}, True),
        ("value: the largest of 8", {"kind": "value", "of": "max", "is": {"op": "<=", "number": 50}}, True),
        ("compare: the last with the first", {"kind": "compare", **ends, "is": "equal", "margin": 0}, True),
        ("extreme: one of 8 equal cells leads", {"kind": "any_of", "claims": leads}, False),
    ]
    return [
        Scenario(
            "a claim about repeats judged wrongly beyond noise", f"{name}, {count} repeats, the last {told}", "at_most",
            0.05, partial(repeated, claim, is_true, (count, ratio)), 500,
        )
        for count in (2, 3, 4, 5)
        for told, ratio in (("as noisy", 1.0), ("3 times as noisy", 3.0), ("10 times as noisy", 10.0))
        for name, claim, is_true in claims
    ]  # fmt: skip


def planned(truth: Sequence[Sequence[float]], trials: int, claim: Claim) -> Callable[[Chance], Outcome]:
    """Whether a claim, of which the posted numbers are true, is decided with the trials that it is said to need."""
    posted = _measured(np.asarray(truth), trials)
    said = read_claim({"about": ABOUT, **claim})
    needed = trials_needed(judge_claim(said, posted))
    enough = 0 if needed is None or needed.needed is None else needed.needed.trials or 0

    def run(chance: Chance) -> Outcome:
        rates = chance.binomial(enough, truth) / enough
        return int(judge_claim(said, _measured(rates, enough)).answers["noise"] != "not_decidable"), 1

    return run


def plans() -> list[tuple[str, Callable[[Chance], Outcome]]]:
    """Claims that hang on one sum of cells, and some that need several intervals."""
    sides = {"kind": "compare", "left": {"T": [0]}, "right": {"T": [1]}}
    higher, at_least_1 = {**sides, "is": "higher"}, {"op": ">", "number": 1}
    within = {"kind": "value", "of": "mean", "is": {"between": [84, 87]}}
    above = {"kind": "value", "is": {"op": ">", "number": 88}}
    cells = {"kind": "cells", "is": {"op": ">", "number": 55}}
    best = {"kind": "extreme", "which": "max", "of": "T", "at": [0]}
    trend = {"kind": "trend", "along": "L", "goes": "up"}
    turns, bent = {**trend, "goes": "up_down", "turn": 3}, [[0.5, 0.58, 0.6, 0.61, 0.61]]
    rows = [[row + 0.02 * place / 3 for place in range(4)] for row in (0.6, 0.605, 0.61)]
    return [
        ("one sum: 60 against 58 over 10 slots", planned([[0.6] * 10, [0.58] * 10], 100, higher)),
        ("one sum: 96 against 95 over 10 slots", planned([[0.96] * 10, [0.95] * 10], 100, higher)),
        ("one sum: 60 against 55, by 1 point", planned([[0.6] * 4, [0.55] * 4], 100, higher | {"by": at_least_1})),
        (
            "one sum: equal within 2 points",
            planned([[0.85] * 10, [0.845] * 10], 60, {**sides, "is": "equal", "margin": 2}),
        ),
        ("one sum: a mean of 85 between 84 and 87", planned([[0.85] * 10], 60, within)),
        ("one sum: a cell of 90 above 88", planned([[0.9]], 100, above)),
        ("several: 5 cells of 60 to 64 above 55", planned([[0.6, 0.61, 0.62, 0.63, 0.64]], 100, cells)),
        ("several: the best of 3 levels, 60, 57 and 56", planned([[0.6] * 4, [0.57] * 4, [0.56] * 4], 100, best)),
        ("a trend: from 60 to 62.4 in 5 cells", planned([[0.6, 0.606, 0.612, 0.618, 0.624]], 100, trend)),
        ("a trend: one that saturates, 50, 58, 60, 61 and 61", planned(bent, 60, trend)),
        (
            "trends: a rise of 6 points to a turn, a fall of 5",
            planned([[0.6, 0.62, 0.64, 0.66, 0.63, 0.61]], 60, turns),
        ),
        ("trends: each of 3 rows, by 2 points in 4 cells", planned(rows, 60, {**trend, "for": {"T": "*"}})),
    ]


def of_any_course(chance: Chance) -> Outcome:
    """Whether a claim of a trend of random numbers, if trials are promised and these numbers are true, is not decided
    with as many; no chance of an event where none are promised."""
    cells, n = int(chance.integers(3, 11)), int(chance.integers(20, 200))
    place, size = np.arange(cells), chance.uniform(0.02, 0.15)
    courses = (
        np.where(place % 2, size, -size),
        np.where(place == chance.integers(cells), size, 0.0),
        chance.normal(0.0, size / 2, cells),
        np.linspace(0.0, size, cells) + chance.normal(0.0, size / 4, cells),
    )
    course = courses[int(chance.integers(len(courses)))]
    truth = np.round(n * np.clip(0.7 + course, 0.0, 1.0))[None] / n
    said = read_claim({"about": ABOUT, "kind": "trend", "along": "L", "goes": "up"})
    needed = trials_needed(judge_claim(said, _measured(truth, n)))
    enough = None if needed is None or needed.needed is None else needed.needed.trials
    if enough is None:
        return 0, 0
    rates = chance.binomial(enough, truth) / enough
    return int(judge_claim(said, _measured(rates, enough)).answers["noise"] == "not_decidable"), 1


def _measured(rates: Any, trials: int) -> Facts:
    return _facts(_grid(100 * rates, np.full(rates.shape, trials)))


LOOKS = 20


def looked_at(claim: Claim, truth: Sequence[Sequence[float]], added: bool, chance: Chance) -> Outcome:
    """One event at most: whether a true claim is contradicted at one of twenty looks, a revision each: 50 trials more
    of each cell, or all of them measured again."""
    said, p = read_claim({"about": ABOUT, **claim}), np.asarray(truth)
    k = np.zeros(p.shape)
    for look in range(1, LOOKS + 1):
        k = k + chance.binomial(50, p) if added else chance.binomial(50 * look, p)
        n = np.full(p.shape, 50 * look)
        if judge_claim(said, _facts(_grid(100 * k / n, n), revision=look)).answers["noise"] == "contradicted":
            return 1, 1
    return 0, 1


def looks() -> list[Scenario]:
    """What twenty looks do to a true claim."""
    cell: Claim = {"kind": "value", "is": exactly(50)}
    equal = {"kind": "compare", "left": {"T": [0]}, "right": {"T": [1]}, "is": "equal", "margin": 0}
    claims: list[tuple[str, Claim, Any]] = [
        ("a cell", cell, [[0.5]]),
        ("a comparison over 10 slots", equal, [[0.8] * 10] * 2),
        ("20 cells", {"kind": "cells", "is": exactly(90)}, [[0.9] * 20]),
    ]
    found = []
    for name, claim, truth in claims:
        for word, added in (
            ("fixed", True),
            ("every_revision", True),
            ("every_revision", False),
        ):
            sense: Any = "shown" if word == "fixed" else "at_most"
            run = partial(looked_at, {**claim, "looks": word}, truth, added)
            setting = f"{name}, {word}, {'50 trials more' if added else 'measured again'} each"
            statement = "a true claim contradicted at one of 20 looks" + (" at alpha each" if word == "fixed" else "")
            found.append(Scenario(statement, setting, sense, None if word == "fixed" else 0.05, run, 400))
    return found


SCENARIOS = [
    Scenario(
        "a claim judged wrongly beyond noise", f"{name}, p {p:g}, n {low}–{high}", "at_most", 0.05,
        partial(wrong, claims, truth, (low, high)), 400,
    )
    for low, high in ((20, 60), (50, 400))
    for p in (0.1, 0.5, 0.9)
    for name, claims, truth in (*settings(p), *wider(p))
] + near_the_ends() + [
    Scenario("a claim decided with the trials that it was said to need", name, "at_least", 0.78, run)
    for name, run in plans()
] + [
    Scenario("a claim not decided with the trials that it was said to need",
             "trends: zigzags, spikes, scatter and rises with scatter", "at_most", 0.2, of_any_course, 300)
] + looks() + repeats()  # fmt: skip
