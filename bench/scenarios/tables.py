"""Statements about whole tables: whether an axis matters, whether the axes interact."""

from collections.abc import Iterator
from functools import partial

import numpy as np
from scipy.special import expit, logit

from bench.scenarios import Chance, Outcome, Scenario
from bench.scenarios.reports import noise_of
from bench.scenarios.worlds import proportions, with_errors
from workers.statistics.sensitivity import sensitivity
from workers.statistics.table import Table


def additive(rows: int, columns: int, low: float, high: float) -> np.ndarray:
    """Proportions that add up on the logit scale."""
    span = logit(high) - logit(low)
    effects = np.linspace(0, span / 2, rows)[:, None] + np.linspace(0, span / 2, columns)
    return np.asarray(expit(logit(low) + effects))


def interacts(truth: np.ndarray, n: int | np.ndarray, chance: Chance) -> Outcome:
    rest = sensitivity(Table.of(proportions(chance, truth, n))).residual
    return int(bool(rest and rest.logit and rest.logit.p < 0.05)), 1


def matters(truth: np.ndarray, n: int | np.ndarray, chance: Chance, axis: str = "x") -> Outcome:
    axes = sensitivity(Table.of(proportions(chance, truth, n))).axes
    p = axes[axis].p if axes else None
    return int(p is not None and p < 0.05), 1


def weighed(part: str, noise: str, rows: int, columns: int, chance: Chance) -> Outcome:
    """Whether an axis or the interaction shows, out of posted errors, though rows differ and nothing else does."""
    truth = np.repeat(3 * chance.normal(size=(rows, 1)), columns, axis=1)
    found = sensitivity(Table.of(with_errors(chance, truth, noise_of(noise, rows, columns, chance))))
    p = found.residual and found.residual.p if part == "interaction" else found.axes and found.axes["x"].p
    return int(p is not None and p < 0.05), 1


def misses_means(truth: np.ndarray, n: int | np.ndarray, chance: Chance) -> Outcome:
    """Whether the interval of the mean of the first column, or of the first row, misses it."""
    axes = sensitivity(Table.of(proportions(chance, truth, n))).axes or {}
    wanted = {"x": 100 * truth[:, 0].mean(), "row": 100 * truth[0].mean()}
    found = [(one.levels[0].interval, wanted[name]) for name, one in axes.items()]
    return sum(ends is not None and not ends.low <= mean <= ends.high for ends, mean in found), len(found)


def _scenarios() -> Iterator[Scenario]:
    for n in (30, 100, 300):
        for low, high in ((0.5, 0.99), (0.3, 0.7), (0.9, 0.99)):
            run = partial(interacts, additive(7, 10, low, high), n)
            setting = f"7 × 10 logit-additive from {low} to {high}, n {n}"
            yield Scenario("an interaction (p < .05) though there is none", setting, "at_most", 0.06, run)
            truth = np.repeat(additive(7, 1, low, high), 10, axis=1)
            setting = f"7 × 10, rows from {low} to {high}, n {n}"
            yield Scenario(
                "an axis matters (p < .05) though it does not", setting, "at_most", 0.06, partial(matters, truth, n)
            )
    for share, columns, sizes in (
        (0.998, 6, (13, 1_000)),
        (0.99, 6, (13, 1_000)),
        (0.01, 10, (10, 500)),
        (0.9, 10, (10, 300)),
    ):
        trials = np.repeat(np.array(sizes)[:, None], columns, axis=1)
        setting = f"2 × {columns}, p {share}, rows of {sizes[0]} and {sizes[1]} trials"
        run = partial(matters, np.full((2, columns), share), trials, axis="row")
        yield Scenario("an axis matters (p < .05) though it does not, uneven trials", setting, "at_most", 0.06, run)
    for share, rows, columns, trials in (
        (0.9, 2, 4, 20),
        (0.98, 2, 2, 100),
        (0.99, 5, 5, 10),
        (0.995, 5, 20, 5),
        (0.9, 2, 2, np.array([[20], [200]])),
        (0.7, 2, 2, np.array([[5], [500]])),
    ):
        told = "20 and 200" if share == 0.9 and columns == 2 else "5 and 500" if share == 0.7 else str(trials)
        setting = f"{rows} × {columns}, p {share}, n {told}"
        run = partial(misses_means, np.full((rows, columns), share), np.broadcast_to(trials, (rows, columns)))
        yield Scenario("the interval of the mean of a level misses it", setting, "at_most", 0.07, run, 2_000)
    for few, many in ((13, 300), (30, 1_000), (77, 300)):
        trials = np.where(np.indices((5, 6)).sum(axis=0) % 2, few, many)
        told, setting = (
            "an interaction (p < .05) though there is none, uneven trials",
            f"5 × 6, n {few} and {many} by turns",
        )
        run = partial(interacts, additive(5, 6, 0.73, 0.999), trials)
        yield Scenario(told, setting, "at_most", 0.06, run)
    for noise in ("equal", "falling 10 : 1", "one cell × 5", "log-sd 1"):
        for rows, columns in ((4, 6), (7, 12)):
            setting = f"{rows} × {columns}, posted errors {noise}"
            for part, told in (
                ("interaction", "an interaction (p < .05) though there is none, out of posted errors"),
                ("axis", "an axis matters (p < .05) though it does not, out of posted errors"),
            ):
                yield Scenario(told, setting, "at_most", 0.06, partial(weighed, part, noise, rows, columns))


SCENARIOS = list(_scenarios())
