"""Statements about entries of a table of many grids: the interval of a mean, that of a mean of bests."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.rankings import of_trials
from workers.statistics.aggregates import Question, aggregate
from workers.statistics.means import means_of
from workers.statistics.set_aside import CellTable


def misses(truth: np.ndarray, n: int, value: Literal["mean", "best"], chance: Chance) -> Outcome:
    """Models that are equal on benchmarks (rows) and levels (columns) of this truth; each has an interval."""
    models = 20
    benchmarks, levels = truth.shape
    measured = np.broadcast_to(truth, (models, *truth.shape))
    k = chance.binomial(n, measured).astype(np.float64).ravel()
    share = (k + 0.5) / (n + 1)
    names = {"model": [f"m{i}" for i in range(models)], "benchmark": [f"b{i}" for i in range(benchmarks)]}
    places = np.indices(measured.shape, dtype=np.int32).reshape(3, -1)
    table = CellTable(
        names | {"axis:length": list(range(levels))},
        dict(zip(("model", "benchmark", "axis:length"), places, strict=True)),
        values=k / n * 100,
        variance=share * (1 - share) / n * 1e4,
        df=np.full(k.size, np.inf),
        n=np.full(k.size, float(n)),
        k=k,
        whole=100.0,
        direction="higher",
        lower=0.0,
        upper=100.0,
    )
    wanted = 100 * (truth.mean() if value == "mean" else truth.max(axis=1).mean())
    found = aggregate(table, Question(("model",), ("benchmark",), value)).entries
    intervals = [entry.interval for entry in found if entry.interval]
    return sum(not one.low <= wanted <= one.high for one in intervals), len(intervals)


def adjusted_misses(models: int, benchmarks: int, holes: float, n: int, chance: Chance) -> Outcome:
    """Models whose scores are a share of their own and one of the benchmark: those that lack benchmarks have the mean
    that they would have on all of them."""
    truth = np.linspace(0.45, 0.65, models)[:, None] + np.linspace(-0.3, 0.3, benchmarks)
    full = of_trials(chance, truth, np.array(n), np.arange(benchmarks))
    found = means_of(replace(full, values=np.where(chance.random(truth.shape) < holes, np.nan, full.values)), 0.05)
    told = [(found[f"m{i}"], 100 * truth[i].mean()) for i in range(models) if f"m{i}" in found]
    adjusted = [(one.interval, mean) for one, mean in told if one.adjusted and one.interval]
    return sum(not one.low <= mean <= one.high for one, mean in adjusted), len(adjusted)


def _adjusted() -> Iterator[Scenario]:
    for models, benchmarks, holes, n in ((4, 6, 0.1, 100), (8, 10, 0.05, 30), (12, 20, 0.15, 300), (20, 8, 0.4, 100)):
        run = partial(adjusted_misses, models, benchmarks, holes, n)
        setting = f"{models} models × {benchmarks} benchmarks, {100 * holes:g} % missing, n {n}"
        told = "the interval of an adjusted mean misses the mean over all benchmarks, where scores add up"
        yield Scenario(told, setting, "at_most", 0.06, run, runs=400)


def _scenarios() -> Iterator[Scenario]:
    for n in (10, 30, 100, 300):
        for low, high in ((0.5, 0.5), (0.9, 0.9), (0.98, 0.98), (0.3, 0.95), (0.7, 0.99)):
            truth = np.linspace(low, high, 18).reshape(3, 6)
            for value, statement in (
                ("mean", "the interval of a mean in a table misses it"),
                ("best", "the interval of a mean of bests in a table misses it"),
            ):
                setting = f"3 benchmarks × 6 levels, {f'p {low}' if low == high else f'p {low} to {high}'}, n {n}"
                run = partial(misses, truth, n, value)
                # Discrete laws cannot keep 5 % exactly on both sides; Wilson's own interval of one proportion does not.
                yield Scenario(statement, setting, "at_most", 0.06, run, runs=400)


SCENARIOS = [*_scenarios(), *_adjusted()]
