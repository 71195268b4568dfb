"""Statements about rankings: who is separated, where the ranks lie, what the intervals hold."""

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from scipy.special import expit, logit

from bench.scenarios import Chance, Outcome, Scenario
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.query import RankingQuery
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.results.ranking import RankedScale
from registry.results.terms import Target
from registry.storage.rows import columns_of, shape_of
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics import ScoreMatrix, rank, ranks
from workers.statistics.pairs import BOTH, pair_table
from workers.statistics.ranking_methods import Refused, block_goodness
from workers.statistics.versus import heterogeneity

LAYOUT = np.repeat([150, 150, 200, 990], 20)
"""Trials of the slots of four benchmarks of twenty cells each: two of few questions, one of many."""
OWNERS = np.repeat(np.arange(4), 20)


def names(size: int) -> tuple[str, ...]:
    return tuple(f"m{i}" for i in range(size))


def of_trials(chance: Chance, truth: np.ndarray, trials: np.ndarray, owners: np.ndarray, **more: Any) -> ScoreMatrix:
    """Models x slots of proportions in percent."""
    values = 100 * chance.binomial(trials, np.clip(truth, 0, 1)) / trials
    return ScoreMatrix(
        names(len(truth)),
        values,
        owners,
        tuple(f"b{i}" for i in range(int(owners.max()) + 1)),
        np.broadcast_to(trials, truth.shape).astype(np.int64),
        "higher",
        0.0,
        100.0,
        **more,
    )


def of_repeats(chance: Chance, models: int, slots: int, repeats: int) -> ScoreMatrix:
    """Equal models with normal noise, every cell the mean of so many runs."""
    runs = chance.normal(size=(models, slots, repeats))
    stderr = runs.std(axis=-1, ddof=1) / np.sqrt(repeats)
    counts = np.full((models, slots), repeats)
    owners = np.zeros(slots, dtype=np.int64)
    return ScoreMatrix(names(models), runs.mean(axis=-1), owners, ("b",), None, "higher", stderr=stderr, repeats=counts)


def of_seeds(chance: Chance, times: tuple[float, ...], slots: int, repeats: int, trials: int) -> ScoreMatrix:
    """Equal models as a ranking reads them, whose repeats have so many times the variance of their trials."""
    more = np.sqrt((np.array(times)[:, None, None] - 1) * 0.21 / trials)
    shares = np.clip(0.7 + more * chance.normal(size=(len(times), slots, repeats)), 0, 1)
    runs = 100 * chance.binomial(trials, shares) / trials
    axes = (Axis("Task", "nominal", tuple(Level(str(slot), None) for slot in range(slots))),)
    counts, metric = (repeats,) * slots, Metric("m", "%", "higher", 0.0, 100.0)
    rows = []
    for model, cells in enumerate(runs):
        values, spread = tuple(cells.mean(axis=1).tolist()), tuple(cells.std(axis=1, ddof=1).tolist())
        grid = Grid(metric, axes, values, trials=repeats * trials, repeats=counts, sd=spread)
        stored = columns_of(grid) | shape_of(grid) | {"values": grid.values, "derived": None, "id": model, "number": 1}
        rows.append(SimpleNamespace(**stored, benchmark="b", model=f"m{model}", variant=""))
    return build_ranking_input(RankingQuery("e", "m"), rows, {}).scores


def of_values(values: np.ndarray, owners: np.ndarray) -> ScoreMatrix:
    """Values of which nothing is known but themselves."""
    benchmarks = tuple(f"b{i}" for i in range(int(owners.max()) + 1))
    return ScoreMatrix(names(len(values)), values, owners, benchmarks, None, "higher")


def board(chance: Chance, models: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Truths of models x slots in the layout, and of the models: benchmarks move each model by `spread` points."""
    base = chance.uniform(0.4, 0.7, LAYOUT.size)
    moves = chance.normal(0, spread / 100, (models, 4)) + np.linspace(0, 0.03, models)[:, None]
    return np.clip(base + moves[:, OWNERS], 0.02, 0.98), moves.mean(axis=1)


def separated(standings: ScoreMatrix, target: Target = "rerun") -> Outcome:
    return int(pair_table(standings, 0.05, target).shown > 0), 1


def equal_models(models: int, chance: Chance) -> Outcome:
    truth = np.repeat(chance.uniform(0.4, 0.95, LAYOUT.size)[None, :], models, axis=0)
    return separated(of_trials(chance, truth, LAYOUT, OWNERS))


def wrongly_equal(models: int, trials: int, chance: Chance) -> Outcome:
    """Whether a verdict calls the first equal within 2 points to one of which that is not so: one is 2 better."""
    truth = np.append(0.90, np.full(models - 1, 0.88))[:, None]
    found = rank(of_trials(chance, truth, np.array([trials]), np.zeros(1, dtype=np.int64)))
    found = replace(found, by="model", scale=RankedScale("%", "higher", 0.0, 100.0))
    return int("shown to be equal" in ranking_verdict(found).sentence and found.ranking[0].name == "m0"), 1


def equal_with_repeats(models: int, slots: int, repeats: int, chance: Chance) -> Outcome:
    return separated(of_repeats(chance, models, slots, repeats))


def equal_with_seeds(times: tuple[float, ...], slots: int, repeats: int, trials: int, chance: Chance) -> Outcome:
    return separated(of_seeds(chance, times, slots, repeats, trials))


def equal_benchmarks(repeats: int, spreads: tuple[float, ...], chance: Chance) -> Outcome:
    """Whether the difference of two models is shown to differ between benchmarks of so unequal noise."""
    runs = chance.normal(size=(2, len(spreads), repeats)) * np.array(spreads)[:, None]
    gaps, variances = runs[0].mean(axis=1) - runs[1].mean(axis=1), runs.var(axis=2, ddof=1) / repeats
    both = variances.sum(axis=0)
    free = both**2 * (repeats - 1) / np.sum(variances**2, axis=0)
    p = heterogeneity(gaps.tolist(), np.sqrt(both).tolist(), free.tolist()).p
    return int(p is not None and p < 0.05), 1


def equal_without_noise(models: int, benchmarks: int, chance: Chance) -> Outcome:
    return separated(of_values(chance.normal(size=(models, benchmarks)), np.arange(benchmarks)), "new_benchmarks")


def equal_of_few(models: int, trials: tuple[int, ...], ends: tuple[float, float], chance: Chance) -> Outcome:
    """Benchmarks of one cell each."""
    truth = np.repeat(chance.uniform(*ends, len(trials))[None, :], models, axis=0)
    return separated(of_trials(chance, truth, np.array(trials), np.arange(len(trials))))


def detectable_is_shown(models: int, trials: int, chance: Chance) -> Outcome:
    """Whether a difference of what every pair says it could show, planted between the first two, is shown."""
    base = np.full((models, 4), 0.6)
    twice = pair_table(of_trials(chance, base, np.full(4, trials), np.arange(4)), 0.05).pairs(BOTH)
    size = (twice[0].detectable or 0.0) / 200
    base[0] += size
    base[1:] -= size if models == 2 else 0
    base[1] -= size if models > 2 else 0
    table = pair_table(of_trials(chance, base, np.full(4, trials), np.arange(4)), 0.05)
    return int(table.apart[0, 1] > 0), 1


def outside(models: int, spread: float, chance: Chance) -> Outcome:
    """Whether a printed rank lies outside of its own range."""
    truth, _ = board(chance, models, spread)
    rows = rank(of_trials(chance, truth, LAYOUT, OWNERS), pairs_of="m0").ranking
    return int(any(not row.rank_low <= row.rank <= row.rank_high for row in rows)), 1


def true_rank_outside(models: int, spread: float, chance: Chance) -> Outcome:
    """Whether any true rank lies outside of its range."""
    truth, means = board(chance, models, spread)
    rows = rank(of_trials(chance, truth, LAYOUT, OWNERS), pairs_of="m0").ranking
    ranks = {f"m{i}": 1 + int(np.sum(means > own)) for i, own in enumerate(means)}
    return int(any(not row.rank_low <= ranks[row.name] <= row.rank_high for row in rows)), 1


def difference_holds(spread: float, chance: Chance) -> Outcome:
    truth, means = board(chance, 2, spread)
    (pair,) = pair_table(of_trials(chance, truth, LAYOUT, OWNERS), 0.05).pairs(BOTH)
    gap = 100 * (means[0] - means[1])
    return int(pair.interval.low <= gap <= pair.interval.high), 1


def new_questions(samples: int, questions: int, chance: Chance) -> Outcome:
    """Whether the interval for other questions holds the difference, 0, of two equal models whose questions differ in
    how hard they are by 2 on the logit scale."""
    hard = expit(logit(0.6) + chance.normal(0, 2, (2, questions)))
    hits = chance.binomial(samples, hard).sum(axis=1)
    n = samples * questions
    standings = ScoreMatrix(
        names(2),
        100 * hits[:, None] / n,
        np.zeros(1, dtype=np.int64),
        ("b",),
        np.full((2, 1), n),
        "higher",
        0.0,
        100.0,
        questions=np.full((2, 1), questions),
    )
    (pair,) = rank(standings, target="new_questions").pairs
    return int(pair.interval.low <= 0 <= pair.interval.high), 1


def new_benchmarks(benchmarks: int, law: str, chance: Chance) -> Outcome:
    laws = {"normal": chance.normal, "t of 3": partial(chance.standard_t, 3), "exponential": chance.exponential}
    values = np.round(laws[law](size=(2, benchmarks)), 1)
    (pair,) = pair_table(of_values(values, np.arange(benchmarks)), 0.05, "new_benchmarks").pairs(BOTH)
    if pair.interval is None:
        return 0, 0
    return int(pair.interval.low <= 0 <= pair.interval.high), 1


def strength_holds(slots: int, chance: Chance) -> Outcome:
    """How many of five equal models have a Bradley–Terry score within 1.96 errors of 0."""
    found = rank(of_values(chance.normal(size=(5, slots)), np.zeros(slots, dtype=np.int64)), "bradley_terry")
    rows = [row for row in found.ranking if row.stderr]
    return sum(abs(row.score) <= 1.96 * row.stderr for row in rows), len(rows)


def friedman(cells: int, chance: Chance) -> Outcome:
    """Whether Friedman's test finds a difference of four equal models over eight benchmarks that move each of them."""
    owners = np.repeat(np.arange(8), cells)
    values = chance.normal(size=(4, 8))[:, owners] + chance.normal(size=(4, owners.size))
    goodness = block_goodness(of_values(values, owners), "matched")
    assert not isinstance(goodness, Refused)
    found = ranks.friedman(goodness)
    return int(found.exact_p is not None and found.exact_p < 0.05), 1


def _separated() -> Iterator[Scenario]:
    statement = "any two equal models are separated"
    for models in (2, 5, 10):
        setting = f"{models} models, 20 cells × 4 benchmarks, trials 150, 150, 200, 990"
        yield Scenario(statement, setting, "at_most", 0.05, partial(equal_models, models))
        setting = f"{models} models, nothing known of the noise, other benchmarks than these 8"
        yield Scenario(statement, setting, "at_most", 0.05, partial(equal_without_noise, models, 8))
        for trials in ((5,) * 10, (20,) * 10, (10, 30, 100, 1_000)):
            for ends in ((0.9, 0.9), (0.05, 0.95)):
                each = f"n {trials[0]}" if len(set(trials)) == 1 else f"n {trials[0]} to {trials[-1]:,}"
                rates = f"p {ends[0]:g}" if ends[0] == ends[1] else f"p {ends[0]:g} to {ends[1]:g}"
                setting = f"{models} models, {len(trials)} benchmarks of one cell, {each}, {rates}"
                run = partial(equal_of_few, models, trials, ends)
                yield Scenario(statement, setting, "at_most", 0.05, run)
    for repeats in (2, 3, 5):
        for slots in (1, 4, 20):
            setting = f"2 models, {slots} slots, {repeats} repeats"
            run = partial(equal_with_repeats, 2, slots, repeats)
            yield Scenario("equal models are separated out of few repeats", setting, "at_most", 0.06, run)
    for times, slots, repeats, trials in (
        *(((4.0,) * 2, 1, 2, 200), ((4.0,) * 3, 1, 2, 200), ((4.0,) * 6, 1, 2, 200), ((4.0,) * 10, 1, 3, 100)),
        *(((1.5,) * 6, 1, 2, 200), ((4.0, *(1.0,) * 5), 1, 2, 200), ((*(4.0,) * 5, 1.0), 1, 2, 200)),
        *(((3.0,) * 4, 2, 2, 200), ((2.0,) * 20, 10, 2, 200), ((10.0, 1.0, 1.0), 20, 2, 200)),
    ):
        run, most = partial(equal_with_seeds, times, slots, repeats, trials), Counter(times).most_common()
        spread = ", ".join(f"{count} models with {each:g} times the variance" for each, count in most)
        setting = f"{spread}, {slots} cells out of {repeats} repeats of {trials}"
        yield Scenario("any two equal models are separated, of repeats beside trials", setting, "at_most", 0.05, run)
    told = "the difference of two equal models is said to differ between benchmarks, of repeats"
    alike = (1.0,) * 19
    for repeats, spreads, noise in (
        *((count, (*alike, 1.0), "equal noise") for count in (2, 3, 5)),
        *((count, (1.0, 2.0, 3.0, 5.0, 10.0), "noise of 1 to 10") for count in (2, 3)),
        *((count, (*alike, 10.0), "one ten times as noisy") for count in (2, 3)),
    ):
        run, setting = (
            partial(equal_benchmarks, repeats, spreads),
            f"{len(spreads)} benchmarks out of {repeats} repeats",
        )
        # There one benchmark alone decides, by two degrees of freedom at most.
        promise = ("shown", None) if repeats == 2 and "one" in noise else ("at_most", 0.05)
        yield Scenario(told, f"{setting}, {noise}", *promise, run, 2_000)
    for cells in (1, 5, 20):
        run = partial(friedman, cells)
        setting = f"4 models, 8 benchmarks of {cells} cells"
        yield Scenario("Friedman’s test over benchmarks (p < .05), equal models", setting, "at_most", 0.05, run, 4_000)


def _ranks() -> Iterator[Scenario]:
    for spread in (0.0, 1.0, 3.0, 5.0):
        setting = f"5 models, model × benchmark sd {spread:g} points"
        run = partial(outside, 5, spread)
        yield Scenario("a printed rank lies outside of its range", setting, "at_most", 0.0, run)
        run = partial(true_rank_outside, 5, spread)
        yield Scenario("a true rank lies outside of its range", setting, "at_most", 0.05, run)


def _intervals() -> Iterator[Scenario]:
    for models, trials in ((3, 8_000), (8, 12_000), (12, 12_700)):
        run = partial(wrongly_equal, models, trials)
        setting = f"one of {models} models 2 points better, one cell, n {trials:,}"
        yield Scenario("names are wrongly called equal to the first of many", setting, "at_most", 0.05, run, 1_000)
    for spread in (0.0, 3.0):
        run = partial(difference_holds, spread)
        setting = f"trials 150, 150, 200, 990, model × benchmark sd {spread:g} points"
        yield Scenario("the interval of a difference holds it", setting, "at_least", 0.94, run)
    for models, trials in ((2, 30), (2, 300), (5, 100)):
        run = partial(detectable_is_shown, models, trials)
        setting = f"{models} models, 4 benchmarks, n {trials}"
        yield Scenario("a difference is shown that was said to be", setting, "at_least", 0.77, run)
    for samples in (5, 16, 64):
        run = partial(new_questions, samples, 30)
        setting = f"30 questions × {samples} samples"
        yield Scenario("the interval for new questions holds the difference", setting, "at_least", 0.94, run)
    for benchmarks, law in itertools.product((3, 5, 10), ("normal", "t of 3", "exponential")):
        run = partial(new_benchmarks, benchmarks, law)
        setting = f"{benchmarks} benchmarks, {law}"
        yield Scenario("the interval for new benchmarks holds the difference", setting, "at_least", 0.94, run)
    for slots in (10, 20, 80):
        run = partial(strength_holds, slots)
        yield Scenario(
            "a Bradley–Terry score lies within 1.96 errors of the truth",
            f"5 equal models, {slots} slots",
            "shown",
            None,
            run,
        )


SCENARIOS = [*_separated(), *_ranks(), *_intervals()]
