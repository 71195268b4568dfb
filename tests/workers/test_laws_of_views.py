"""Laws of all views of one selection, over random boards: holes, ties, repeats, other scales and lower values that win.

They are computed from rows as workers read them, without a server.
"""

import math
import random
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from itertools import chain, combinations
from typing import Any, NamedTuple

import pytest

from registry.grids.protocol import NO_RULES
from registry.query import AggregatesQuery, GateQuery, RankingQuery, model_comparison
from registry.results.pairs import Pair
from registry.results.ranking import BenchmarkScores
from registry.storage.rows import sliced_row
from workers.answers.aggregates import CellReader, aggregates_of
from workers.answers.comparisons import Asked, compare_models
from workers.gates.gate import Both, gate_of, named
from workers.rankings.ranking_input import build_ranking_input
from workers.statistics.means import NameMean, benchmark_scores, means_of
from workers.statistics.pairs import estimand_of, pair_table

BOARDS, PAIRS, ALPHA = 100, 1, 0.05
METRICS: dict[str, dict[str, Any]] = {
    "percent": {"name": "m", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
    "fraction": {"name": "m", "unit": None, "direction": "higher", "lower": 0, "upper": 1},
    "loss": {"name": "m", "unit": None, "direction": "lower", "lower": 0, "upper": None},
}
POLICY = {"kind": "equivalent", "margin": 5.0, "margin_unit": "points", "per": "overall", "missing": "matched"}
SCOPE = ("e", "m")
_COLUMNS = (
    "id grid_id number digest benchmark model variant metric axes values trials cell_trials stderr repeats sd questions"
    " design_effect derived protocol labels reasons cell_count"
)
Rows = Sequence[Any]


class Row(namedtuple("Row", _COLUMNS)):
    """A row of a revision, with the names of its grid."""

    @property
    def _mapping(self) -> dict[str, Any]:
        return self._asdict()


def board(seed: int) -> list[Any]:
    """Grids of up to six models on up to a dozen benchmarks, each of one to a few dozen cells; some are not there."""
    chance = random.Random(seed)
    noise = chance.choice(["none", "trials", "stderr", "repeats"])
    lengths = chance.choice([(1, 1), (2, 5), (9, 24)])
    kinds = chance.choice([["percent"], ["fraction"], ["loss"], ["percent", "fraction"]])
    models = chance.sample(["a", "b", "c", "Éclair", "10", "9"], chance.randint(2, 6))
    found = []
    for place in range(chance.randint(1, 12)):
        kind, size = chance.choice(kinds), chance.randint(*lengths)
        whole = {"percent": 100, "fraction": 1, "loss": 3}[kind]
        digits = chance.choice([1, 2]) + (2 if kind == "fraction" else 0)
        for model in models:
            if chance.random() < 0.85:
                middle = chance.choice([0.3, 0.5, 0.5, 0.8])
                values = [round(whole * min(1.0, max(0.0, chance.gauss(middle, 0.05))), digits) for _ in range(size)]
                values = [None if chance.random() < 0.15 else one for one in values]
                found.append(row(chance, f"b{place}", model, METRICS[kind], values, noise))
    return found


def row(chance: random.Random, benchmark: str, model: str, metric: Any, values: list[Any], noise: str) -> Any:
    """A grid along Length, or a single score."""
    axes = [{"name": "Length", "kind": "numeric", "unit": None, "scale": "linear", "levels": list(range(len(values)))}]
    there = [value is not None for value in values]
    of_noise: dict[str, Any] = {}
    if noise == "trials":
        of_noise["trials"] = chance.choice([30, 150, 300, 997])
    elif noise == "stderr":
        of_noise["stderr"] = [chance.choice([0.25, 0.5]) if has else None for has in there]
    elif noise == "repeats":
        of_noise["repeats"] = [chance.choice([3, 5]) if has else None for has in there]
        of_noise["sd"] = [round(chance.uniform(0.1, 2), 2) if has else None for has in there]
    name = f"{benchmark} {model}"
    given = {"id": name, "grid_id": name, "number": 1, "digest": name.encode(), "benchmark": benchmark, "model": model}
    given |= {"variant": "", "metric": metric, "axes": axes if len(values) > 1 else [], "values": values, "labels": {}}
    given |= {"cell_count": sum(there), **of_noise}
    return Row(**dict.fromkeys(Row._fields) | given)


def of_models(rows: Rows, *models: str) -> list[Any]:
    return [one for one in rows if one.model in models]


class Ranked(NamedTuple):
    """What a ranking says of pairs, of each name and of each benchmark."""

    pairs: tuple[Pair, ...]
    means: Mapping[str, NameMean]
    by_benchmark: tuple[BenchmarkScores, ...]

    @property
    def differences(self) -> dict[tuple[str, str], float]:
        """The difference of every two names that meet, both ways."""
        met = [(one, one.difference) for one in self.pairs if one.difference is not None]
        both = (((one.a, one.b), gap) for one, gap in met), (((one.b, one.a), -gap) for one, gap in met)
        return dict(chain(*both))


def ranked(rows: Rows) -> Ranked:
    """These parts alone: how an order holds up takes most of the time of a ranking, and is made of them."""
    scores = build_ranking_input(RankingQuery(*SCOPE), rows, {}).scores
    estimand = estimand_of("mean_difference", scores.mixed)
    table = pair_table(scores, ALPHA, estimand=estimand, work=1) if scores.present.any() else None
    pairs = table.pairs(list(combinations(range(len(scores.names)), 2))) if table else ()
    return Ranked(pairs, means_of(scores, ALPHA), benchmark_scores(scores, ALPHA)[0])


def tabulated(rows: Rows) -> dict[str, Any]:
    query = AggregatesQuery(*SCOPE, group_by=("model", "benchmark"))
    return aggregates_of(query, CellReader(query, {}).read(rows))


def compared(rows: Rows, contender: str, baseline: str) -> float | None:
    query = model_comparison((baseline, None), (contender, None), experiment="e", metric="m")
    whole = compare_models(query, rows, {}, NO_RULES, Asked("p", {})).whole
    return None if whole is None else whole.difference


def gated(rows: Rows, contender: str, baseline: str) -> float | None:
    """The gap that a gate judges; None where it refuses, as over several scales."""
    query = GateQuery(*SCOPE, baseline_model=baseline, contender_model=contender, policy=POLICY)
    sides = [named(query, of_models(rows, one), {}) for one in (baseline, contender)]
    found = gate_of(query, Both(sides[0], sides[1]), NO_RULES, "p").per
    return found[0].gap if found else None


def uppers(rows: Rows) -> set[float | None]:
    return {one.metric["upper"] for one in rows if any(value is not None for value in one.values)}


def two_names_have_one_difference_in_every_view(rows: Rows, seed: int) -> None:
    every = ranked(rows).differences
    chosen = random.Random(f"pair {seed}").sample(sorted(every), min(len(every), PAIRS))
    for a, b in chosen:
        both, wanted = of_models(rows, a, b), every[a, b]
        if uppers(both) != uppers(rows):
            continue  # The unit is that of all grids that are asked about: of these two alone it may be another one.
        alone = ranked(both)
        assert alone.differences == {(a, b): wanted, (b, a): -wanted}, (seed, a, b)
        assert compared(both, a, b) == wanted, (seed, a, b)
        gap = gated(both, a, b)
        assert gap is None or gap == wanted, (seed, a, b)
        table = {one["level"]: one for one in tabulated(both)["rows"]}
        for name, (mean, interval, _) in alone.means.items():
            assert table[name]["mean"] == mean, (seed, name)
            said = table[name]["mean_interval"]
            assert (said is None) == (interval is None), (seed, name)
            if interval is not None:
                assert [said["low"], said["high"]] == pytest.approx([interval.low, interval.high], rel=1e-12), seed
        apart = table[a]["mean"] - table[b]["mean"]
        last = 4 * math.ulp(max(abs(table[name]["mean"]) for name in (a, b)))
        assert abs(apart - wanted) <= last, (seed, a, b)


def a_slice_is_as_if_there_were_nothing_else(rows: Rows, seed: int) -> None:
    """What workers cut from grids, against grids that were published with these levels alone."""

    def short(one: Any) -> Any:
        if not one.axes or len(one.values) <= 3:
            return one if one.axes else None
        columns = {name: getattr(one, name) for name in ("values", "stderr", "repeats", "sd")}
        kept = {name: column[:3] for name, column in columns.items() if column is not None}
        there = sum(value is not None for value in kept["values"])
        return one._replace(**kept, axes=[one.axes[0] | {"levels": [0, 1, 2]}], cell_count=there)

    cut = [found for one in rows if (found := sliced_row(one, (("Length", ("<=2",)),))) is not None]
    alone = [found for one in rows if (found := short(one)) is not None]
    assert (ranked(cut), tabulated(cut)) == (ranked(alone), tabulated(alone)), seed


def a_table_has_the_means_of_the_ranking(rows: Rows, seed: int) -> None:
    table = {one["level"]: one for one in tabulated(rows)["rows"]}
    means = ranked(rows).means
    assert {name for name, one in table.items() if one["mean"] is not None} == means.keys(), seed
    for name, one in means.items():
        assert table[name]["mean"] == pytest.approx(one.mean, rel=1e-12), (seed, name)
        assert table[name].get("adjusted") == one.adjusted, (seed, name)
        assert (table[name]["mean_interval"] is None) == (one.interval is None), (seed, name)


LAWS = (
    two_names_have_one_difference_in_every_view,
    a_slice_is_as_if_there_were_nothing_else,
    a_table_has_the_means_of_the_ranking,
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_laws_hold_on_random_boards(law: Callable[[Rows, int], None]) -> None:
    """A law for each board: together they take some seconds, all laws of two thousand boards a quarter of an hour."""
    for seed in range(LAWS.index(law), BOARDS, len(LAWS)):
        if rows := board(seed):
            law(rows, seed)
