"""How often a gate raises a false alarm, lets a loss pass, and finds one: `python -m bench.gates`.

Grids are drawn, and judged by the function that judges stored ones. Seeded; about two minutes.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from types import SimpleNamespace
from typing import Any, get_args

import numpy as np
from scipy.special import ndtri

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.outcomes import HeldItems, Outcomes
from registry.grids.protocol import Rules
from registry.query import GateQuery
from registry.results.codec import from_document, to_document
from registry.results.gates import Gate, Looks, Per, Policy
from registry.storage.item_outcomes import packed_cells
from registry.storage.rows import columns_of, shape_of
from workers.gates.contenders import at_look, failing_places
from workers.gates.gate import Both, gate_of

ACCURACY = Metric("accuracy", "%", "higher", 0.0, 100.0)
LOSS = Metric("loss", None, "lower", None, None)


@dataclass(frozen=True, slots=True)
class Scene:
    """Benchmarks of cells with true rates between two ends, and trials of each; or errors of a loss that are known."""

    benchmarks: int
    cells: int
    trials: int
    rates: tuple[float, float] = (0.3, 0.9)
    repeats: int = 0
    run: float = 0.0
    """The share of the variance of repeats that is common to all cells of one side: that of a seed."""
    shared: float | None = None
    """The trials of a cell are items, the same on both sides and in all cells of a benchmark. This share of an item's
    variance is its difficulty, and half of the rest is common to the cells of one side. None: all are drawn anew."""


def truth_of(scene: Scene, random: np.random.Generator) -> np.ndarray[Any, Any]:
    """True rates, benchmarks x cells."""
    return random.uniform(*scene.rates, size=(scene.benchmarks, scene.cells))


def drawn(scene: Scene, truth: np.ndarray[Any, Any], random: np.random.Generator) -> dict[tuple[str, str], Any]:
    """One side's rows, by benchmark and variant."""
    of_run = random.normal(0.0, 0.1 * math.sqrt(scene.run), size=scene.repeats) if scene.run else 0.0
    return {(f"b{i:02}", ""): row_of(_grid(scene, rates, random, of_run)) for i, rates in enumerate(truth)}


def _grid(scene: Scene, rates: np.ndarray[Any, Any], random: np.random.Generator, of_run: Any) -> Grid:
    if scene.repeats:
        own = 0.1 * math.sqrt(1 - scene.run)
        runs = random.normal(rates[:, None], own, size=(scene.cells, scene.repeats)) + of_run
        values, sd = runs.mean(axis=1), runs.std(axis=1, ddof=1)
        counts = (scene.repeats,) * scene.cells
        return Grid(LOSS, (_axis(scene),), tuple(values.tolist()), repeats=counts, sd=tuple(sd.tolist()))
    successes = random.binomial(scene.trials, rates)
    return _grid_of((100 * successes / scene.trials).tolist(), scene)


def _grid_of(values: list[float], scene: Scene) -> Grid:
    return Grid(ACCURACY, (_axis(scene),), tuple(values), trials=scene.trials)


def _axis(scene: Scene) -> Axis:
    return Axis("x", "nominal", tuple(Level(str(i), None) for i in range(scene.cells)), None, None)


def row_of(grid: Grid) -> Any:
    """A grid as it is stored."""
    columns = columns_of(grid) | shape_of(grid) | {"values": grid.values}
    return SimpleNamespace(**columns, grid_id=None, number=0)


def judge(policy: Policy, baseline: dict[tuple[str, str], Any], contender: dict[tuple[str, str], Any]) -> Gate:
    """The verdict on drawn rows."""
    return judged(policy, Both(baseline, contender))


def judged(policy: Policy, both: Both) -> Gate:
    """The same of both sides with outcomes of items."""
    query = GateQuery("e", "m", baseline_name="main", contender_model="c", policy=asdict(policy))
    return gate_of(query, both, Rules(), "bench")


def outcomes(
    scene: Scene, policy: Policy, loss: float, runs: int, seed: int, *, posted: bool = True
) -> Counter[bool | None]:
    """How often a contender that is worse by `loss` (a fraction, in every cell) passes, fails or neither."""
    return Counter(gate.passes for gate in verdicts(scene, policy, loss, runs, seed, posted=posted))


def on_items(
    scene: Scene, truth: np.ndarray[Any, Any], loss: float, random: np.random.Generator, *, posted: bool = True
) -> Both:
    """Both sides on the same items, by a normal copula, with or without the outcomes of the items."""
    share = scene.shared or 0.0
    difficulty = random.normal(size=(scene.benchmarks, 1, scene.trials))
    sides, items = [], dict[tuple[Any, int], list[Any]]()
    for side, rates in enumerate((truth, truth - loss)):
        own = random.normal(size=(scene.benchmarks, scene.cells, scene.trials))
        if scene.cells > 1:
            own = (own + random.normal(size=(scene.benchmarks, 1, scene.trials))) / math.sqrt(2)
        right = math.sqrt(share) * difficulty + math.sqrt(1 - share) * own < ndtri(rates)[:, :, None]
        rows = {}
        for i, table in enumerate(right):
            key = (f"b{i:02}", "")
            rows[key] = row_of(_grid_of((100 * table.mean(axis=1)).tolist(), scene))
            rows[key].grid_id, rows[key].number = f"{side}-{i}", 1
            if posted:
                items[f"{side}-{i}", 1] = [_stored(table, rows[key].values)]
        sides.append(rows)
    return Both(*sides, items=items)


def _stored(table: np.ndarray[Any, Any], values: Any) -> Any:
    """A row of outcomes as it is stored, of the cells of a grid."""
    held = [
        HeldItems("", "", (str(i),), values[i], right.size, Outcomes(right.size, bits=np.packbits(right).tobytes()))
        for i, right in enumerate(table)
    ]
    return SimpleNamespace(set_name="", digest=bytes(32), count=table.shape[1], **packed_cells(held))


def verdicts(scene: Scene, policy: Policy, loss: float, runs: int, seed: int, *, posted: bool = True) -> Iterator[Gate]:
    """The verdicts themselves; `posted` says whether outcomes of items are known where there are any."""
    random = np.random.default_rng(seed)
    sign = 1 if scene.repeats else -1
    for _ in range(runs):
        truth = truth_of(scene, random)
        if scene.shared is not None:
            yield judged(policy, on_items(scene, truth, loss, random, posted=posted))
            continue
        yield judge(policy, drawn(scene, truth, random), drawn(scene, truth + sign * loss, random))


def streams(count: int, checkpoints: int, seed: int) -> Counter[str]:
    """In how many streams of checkpoints any stored verdict is a false alarm, by `looks`: each stream has one baseline,
    nothing differs and the margin is 0."""
    scene, random = Scene(1, 1, 400, (0.5, 0.7)), np.random.default_rng(seed)
    alarmed = Counter[str]()
    for _ in range(count):
        truth = truth_of(scene, random)
        baseline, contenders = drawn(scene, truth, random), [drawn(scene, truth, random) for _ in range(checkpoints)]
        for looks in get_args(Looks):
            policy = to_document(Policy(looks=looks))
            levels = (from_document(Policy, at_look(policy, look)) for look in range(1, checkpoints + 1))
            gates = (judge(level, baseline, one) for level, one in zip(levels, contenders, strict=True))
            alarmed[looks] += any(failing_places(gate, ()) for gate in gates)
    return alarmed


PER: tuple[Per, ...] = get_args(Per)
LOSS_INJECTED = 0.05
"""A loss of exactly the margin: 5 points, or half a deviation of one run of the loss."""
SCENES = {
    "4 benchmarks x 5 cells, 150 trials": Scene(4, 5, 150),
    "near the top: 4 x 5, 30 trials, rates .9 to .99": Scene(4, 5, 30, (0.9, 0.99)),
    "repeats: 4 x 5, 4 repeats of a loss": Scene(4, 5, 0, (1.0, 2.0), repeats=4),
    "runs: the same, half of the variance that of a run": Scene(4, 5, 0, (1.0, 2.0), repeats=4, run=0.5),
}


ITEM_SCENES = {
    f"{cells} of {items} items, difficulty {share:g}": Scene(4, int(cells.split()[0]), items, shared=share)
    for cells, items in (("1 cell", 50), ("1 cell", 200), ("5 cells", 200))
    for share in (0.0, 0.5, 0.9)
}


def by_items(runs: int) -> None:
    """Write the table of sides with the same items: error rates, and how often an equal contender passes the margin."""
    print("| on each of 4 benchmarks | per | items known | false alarms | wrong passes | passes of equals |")
    print("|---|---|---|---|---|---|")
    for name, scene in ITEM_SCENES.items():
        for per in ("overall", "cell"):
            policies = Policy(per=per), Policy(per=per, margin=LOSS_INJECTED * 100)
            for posted in (True, False):
                none = outcomes(scene, policies[0], 0.0, runs, 3, posted=posted)[False] / runs
                wrong = outcomes(scene, policies[1], LOSS_INJECTED, runs, 4, posted=posted)[True] / runs
                equal = outcomes(scene, policies[1], 0.0, runs, 5, posted=posted)[True] / runs
                print(f"| {name} | {per} | {posted} | {none:.4f} | {wrong:.4f} | {equal:.4f} |", flush=True)


def main(runs: int = 2_000, *wanted: str) -> None:
    """Write the rows of docs/calibration.md to standard output, for all scenes or those whose names begin so."""
    if wanted == ("items",):
        by_items(runs)
        return
    print("| grids | per | false alarms, margin 0 | wrong passes, a loss of the margin |\n|---|---|---|---|")
    for name, scene in SCENES.items():
        if wanted and not name.startswith(wanted):
            continue
        unit = 1.0 if scene.repeats else 100.0
        for per in PER:
            none = outcomes(scene, Policy(per=per), 0.0, runs, 1)
            at_margin = outcomes(scene, Policy(per=per, margin=LOSS_INJECTED * unit), LOSS_INJECTED, runs, 2)
            print(f"| {name} | {per} | {none[False] / runs:.4f} | {at_margin[True] / runs:.4f} |", flush=True)
    if not wanted:
        found = streams(runs // 20, 20, 3)
        told = ", ".join(f"{looks} {found[looks] / (runs // 20):.3f}" for looks in get_args(Looks))
        print(f"streams of 20 checkpoints with any false alarm: {told}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
