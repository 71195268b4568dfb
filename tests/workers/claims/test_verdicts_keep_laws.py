"""Laws that verdicts keep on any grid and claim: of negation and of parts, of names and scales, and of what is not
measured."""

import random
from dataclasses import replace
from typing import Any

import pytest

from registry.claims.claim import atoms_of
from registry.claims.grammar import read_claim
from registry.grids.grid import Axis, Grid, Metric
from tests.workers.claims.scenes import judged, source, table, with_about
from workers.claims.facts import Facts
from workers.claims.judgement import judge_claim

pytestmark = [pytest.mark.unit, pytest.mark.usefixtures("unplanned")]

ROWS, COLUMNS = ("1", "2", "3"), (0.0, 1.0, 2.0, 4.0)
SCALE = Metric("accuracy", "%", "higher", 40.0, 60.0)
LAYERS = ("as_posted", "beyond_noise")


def number(draw: random.Random, scale: float = 1.0, shift: float = 0.0) -> dict[str, Any]:
    """A stated number near the values of the grids; ends with a decimal more than values have."""
    low, high = sorted(draw.sample(range(45, 56), 2))
    if draw.random() < 0.4:
        return {"between": [scale * low + shift, scale * high + shift], "decimals": 2}
    return {"op": draw.choice(["<", ">", "<=", ">="]), "number": scale * low + shift}


def size(draw: random.Random, scale: float = 1.0) -> dict[str, Any]:
    return {"op": draw.choice(["<", ">=", ">"]), "number": scale * draw.randint(0, 6)}


HOLDS = ("all", "any", "none", "most", {"at_least": 2}, {"exactly": 1}, {"share": 0.6})


def claims(seed: int, scale: float = 1.0, shift: float = 0.0, t: str = "T", along: str = "L") -> list[dict[str, Any]]:
    """A claim of every kind; the same of a seed, with its constants on another scale."""
    draw = random.Random(seed)
    row, other = draw.sample(ROWS, 2)
    at, before = draw.choice(COLUMNS[1:]), COLUMNS[0]
    series = {"where": {t: [row]}}
    sides = {"left": {t: [row]}, "right": {t: [other]}}
    level_stat = draw.choice(["mean", "min", "max", "range", "first", "last", "sd"])
    found: list[dict[str, Any]] = [
        {"kind": "value", "where": {t: [row], along: [at]}, "is": number(draw, scale, shift)},
        *(
            {"kind": "value", "of": of, **series, "is": number(draw, scale, shift)}
            for of in ("mean", "min", "max", "first", "last")
        ),
        *({"kind": "value", "of": of, **series, "is": size(draw, scale)}
          for of in ("sd", "change")),
        {"kind": "cells", "is": number(draw, scale, shift), "cells_hold": draw.choice(HOLDS)},
        {"kind": "cells", "is": number(draw, scale, shift), "for": {t: "*"}, "holds": draw.choice(HOLDS)},
        {"kind": "lie", "matching": number(draw, scale, shift), "inside": [{t: [row]}, {along: {"to": 1}}],
         "cells_hold": draw.choice(HOLDS)},
        {"kind": "lie", "highest": 3, "inside": [{t: [row, other]}], "cells_hold": draw.choice(HOLDS)},
        {"kind": "stable", **series, "along": along, "within": scale * draw.randint(1, 9)},
        {"kind": "effect", "axes": [t], "is": draw.choice(["present", "small"]), "within": scale * draw.randint(1, 4)},
        {"kind": "extreme", "which": draw.choice(["max", "min"]), "at": [{t: row, along: at}],
         "alone": draw.random() < 0.5},
        {"kind": "extreme", "which": "max", "of": t, "stat": level_stat, "along": along, "at": [row, other],
         "missing": draw.choice(["matched", "available"])},
        {"kind": "rank", "by": t, "name": row, "place": draw.choice([1, 2, "last"]), "alone": draw.random() < 0.3},
        {"kind": "rank", "by": t, "name": row, "place": 2, "top": True, "stat": level_stat, "along": along},
        *(
            {"kind": "trend", **series, "along": along, "goes": goes,
             "monotone": goes != "not_monotone" and draw.random() < 0.4}
            for goes in ("up", "down", "not_monotone")
        ),
        {"kind": "trend", **series, "along": along, "goes": "flat", "margin": scale * draw.randint(1, 9)},
        {"kind": "trend", **series, "along": along, "goes": "up_down", "turn": 1},
        {"kind": "step", **series, "along": along, "from": before, "to": at, "goes": "up", "size": size(draw, scale)},
        {"kind": "step", **series, "along": along, "to": at, "goes": "down", "largest": True},
        {"kind": "step", **series, "along": along, "onset": at, "goes": draw.choice(["up", "down"]),
         "margin": scale * draw.randint(0, 4)},
        {"kind": "extreme", "which": "max", "at": [{t: row, along: at}], "isolated": scale * draw.randint(0, 3)},
        {"kind": "effect", "axes": [t, along], "is": draw.choice(["present", "none"]), "interaction": True,
         "within": scale * draw.randint(0, 4)},
        {"kind": "compare", "of": "gap", "ahead": {t: [row]}, "behind": {t: [other]}, "left": {along: {"to": 1}},
         "right": {along: {"from": 2}}, "is": draw.choice(["higher", "worse"]), "by": size(draw, scale)},
        {"kind": "sweet_spot", "at": [{t: row, along: at}, {t: other, along: at}]},
        {"kind": "compare", **sides, "is": draw.choice(["higher", "worse"])},
        {"kind": "compare", **sides, "is": "higher", "by": size(draw, scale)},
        {"kind": "compare", **sides, "is": "equal", "margin": scale * draw.randint(1, 9)},
        {"kind": "compare", **sides, "is": "lower", "everywhere": draw.choice(HOLDS)},
    ]  # fmt: skip
    return found


RATIOS: list[dict[str, Any]] = [
    {"kind": "compare", "left": {"T": ["1"]}, "right": {"T": ["2"]}, "is": "higher",
     "by": {"op": ">=", "number": 4, "unit": "percent"}},
    {"kind": "compare", "left": {"T": ["1"]}, "right": {"T": ["2"]}, "is": "lower",
     "by": {"between": [1.01, 1.08], "unit": "factor"}},
]  # fmt: skip


def grid(seed: int, holes: float = 0.2, **content: Any) -> Grid:
    draw = random.Random(1000 + seed)
    values = [[None if draw.random() < holes else draw.randint(450, 550) / 10 for _ in COLUMNS] for _ in ROWS]
    return table(values, ROWS, COLUMNS, **({"metric": SCALE, "stderr": (0.9,) * 12} | content))


def facts(one: Grid, claim: dict[str, Any]) -> Facts:
    """The grid; for sweet spots with a second one, whose values fall where those of the first exceed the middle of the
    scale."""
    if "sweet_spot" not in str(claim):
        return Facts.of([source(one)])
    lower, upper = one.metric.lower, one.metric.upper
    middle = 50.0 if lower is None or upper is None else (lower + upper) / 2
    folded = (None if value is None else round(middle - abs(value - middle) / 2, 6) for value in one.values)
    return Facts.of([source(one), source(replace(one, values=tuple(folded)), 1, model="N")])


def layers(one: Grid, claim: dict[str, Any]) -> tuple[str, ...]:
    found = judged(facts(one, claim), claim)
    return tuple(found[layer] for layer in LAYERS)


SEEDS = range(2)
"""Of each law; `tests/live/calibration` has more."""
TURNED = {"supported": "contradicted", "contradicted": "supported", "not_decidable": "not_decidable"}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_denial_swaps_and_one_of_one_is_itself(seed: int) -> None:
    one = grid(seed)
    for claim in claims(seed):
        plain = layers(one, claim)
        assert layers(one, {"kind": "not", "claims": [claim]}) == tuple(TURNED[layer] for layer in plain), claim
        assert layers(one, {"kind": "all_of", "claims": [claim]}) == plain, claim
        assert layers(one, {"kind": "any_of", "claims": [claim]}) == plain, claim


@pytest.mark.parametrize("seed", SEEDS)
def test_names_and_the_order_of_nominal_levels_do_not_matter(seed: int) -> None:
    one = grid(seed)
    first, second = one.axes
    turned = [*range(8, 12), *range(4, 8), *range(4)]
    axes = (Axis("Kind", "nominal", first.levels[::-1]), Axis("Size", "numeric", second.levels))
    other = replace(one, axes=axes, values=tuple(one.values[place] for place in turned))
    for claim, renamed in zip(claims(seed), claims(seed, t="Kind", along="Size"), strict=True):
        assert layers(one, claim) == layers(other, renamed), claim


@pytest.mark.parametrize("seed", SEEDS)
def test_another_scale_with_its_constants_changes_nothing(seed: int) -> None:
    one = grid(seed)
    scale, shift = 4.0, -32.0
    values = tuple(None if value is None else round(scale * value + shift, 6) for value in one.values)
    metric = Metric("accuracy", "%", "higher", scale * 40 + shift, scale * 60 + shift)
    other = replace(one, values=values, metric=metric, stderr=(0.9 * scale,) * 12)
    for claim, scaled in zip(claims(seed), claims(seed, scale, shift), strict=True):
        # A range's rounded ends would be another part of the new scale: two decimals lie between all values.
        assert layers(one, claim) == layers(other, scaled), claim


@pytest.mark.parametrize("seed", SEEDS)
def test_one_level_of_for_is_that_of_where(seed: int) -> None:
    one = grid(seed)
    for claim in claims(seed):
        if "for" not in claim and "where" in claim and set(claim["where"]) == {"T"}:
            grouped = {name: said for name, said in claim.items() if name != "where"} | {"for": claim["where"]}
            assert layers(one, claim) == layers(one, grouped), claim


def whatever_is_missing(one: Grid, claim: dict[str, Any]) -> str:
    return judge_claim(read_claim(with_about(claim)), facts(one, claim)).answers["declared"]


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_decided_whatever_is_missing_holds_for_all_values_of_the_missing_cells(seed: int) -> None:
    draw, one = random.Random(seed), grid(seed, holes=0.3)
    for claim in [*claims(seed), *RATIOS]:
        decided = whatever_is_missing(one, claim)
        plain = judged(facts(one, claim), claim)
        assert plain["robust_to_missing"] in ((None,) if plain["as_posted"] == "not_decidable" else
                                              (decided == plain["as_posted"],))  # fmt: skip
        if decided == "not_decidable":
            continue
        for _ in range(4):
            ends = draw.random() < 0.3
            filled = tuple(
                (draw.choice([40.0, 60.0]) if ends else draw.randint(400, 600) / 10) if value is None else value
                for value in one.values
            )
            assert judged(facts(replace(one, values=filled), claim), claim)["as_posted"] == decided, (claim, filled)


@pytest.mark.parametrize("seed", SEEDS)
def test_removing_cells_moves_declared_verdicts_only_towards_not_decidable(seed: int) -> None:
    draw, one = random.Random(seed), grid(seed, holes=0.1)
    gone = draw.sample(range(12), 4)
    less = replace(one, values=tuple(None if place in gone else value for place, value in enumerate(one.values)))
    for claim in [*claims(seed), *RATIOS]:
        before, after = (whatever_is_missing(each, claim) for each in (one, less))
        assert after in (before, "not_decidable"), claim


@pytest.mark.parametrize("seed", SEEDS)
def test_without_noise_to_speak_of_both_layers_agree(seed: int) -> None:
    one = grid(seed, holes=0.0, stderr=(1e-9,) * 12)
    # Trends with noise are those of a fitted line and no median of slopes; ties cannot be shown by noisy numbers.
    plain = [claim for claim in claims(seed) if claim["kind"] != "trend" or claim.get("monotone")]
    agreed = 0
    for claim in [*plain, *RATIOS]:
        posted, noise = layers(one, claim)
        assert noise in (posted, "not_decidable") or claim["kind"] == "extreme", claim
        agreed += noise == posted
    assert agreed >= len(plain) - 6


@pytest.mark.parametrize("seed", SEEDS)
def test_unknown_noise_decides_nothing_beyond_it(seed: int) -> None:
    one = grid(seed, stderr=None, metric=replace(SCALE, lower=None, upper=None))
    for claim in [*claims(seed), *RATIOS]:
        if (claim["kind"] != "trend" or claim.get("monotone")) and not wants_more_cells(one, claim):
            assert layers(one, claim)[1] == "not_decidable", claim


def wants_more_cells(one: Grid, claim: dict[str, Any]) -> bool:
    """Whether a claim is about more cells of two rows than both have: counting refutes it, whatever their noise."""
    least = claim["everywhere"].get("at_least", 0) if isinstance(claim.get("everywhere"), dict) else 0
    if not least:
        return False
    labels, width = [level.label for level in one.axes[0].levels], len(one.axes[1].levels)
    rows = [labels.index(claim[side]["T"][0]) * width for side in ("left", "right")]
    both = [place for place in range(width) if None not in (one.values[row + place] for row in rows)]
    return len(both) < least


def compound(draw: random.Random, known: list[dict[str, Any]], depth: int = 2) -> dict[str, Any]:
    """A claim with several statements, which have one group each."""
    if depth == 0:
        return with_about(draw.choice(known))
    kind = draw.choice(["all_of", "any_of", "not"])
    count = 1 if kind == "not" else draw.choice([2, 3])
    return {"kind": kind, "claims": [compound(draw, known, draw.randint(0, depth - 1)) for _ in range(count)]}


@pytest.mark.parametrize("seed", range(1))
def test_a_compound_is_its_statements_by_kleenes_logic_each_with_its_part_of_alpha(seed: int) -> None:
    draw, one = random.Random(seed), grid(seed, holes=0.1)
    known = [claim for claim in claims(seed) if "for" not in claim and "sweet_spot" not in claim["kind"]]
    decided = 0
    for _ in range(40):
        said = {"kind": "any_of", "claims": [compound(draw, known), with_about(draw.choice(known))]}
        found, count = facts(one, said), len(list(atoms_of(read_claim(said).says)))
        whole = judged(found, said)
        for layer in LAYERS:
            assert joined(found, said, 0.05 / count, layer) == whole[layer]
        decided += whole["as_posted"] != "not_decidable"
    assert decided >= 20


def joined(found: Facts, said: dict[str, Any], alpha: float, layer: str) -> str:
    """The least of what `all_of` joins, the most of what `any_of` does; each statement is judged alone."""
    if "claims" not in said:
        return str(judged(found, said | {"alpha": alpha})[layer])
    order = ("contradicted", "not_decidable", "supported")
    places = [order.index(joined(found, one, alpha, layer)) for one in said["claims"]]
    return order[2 - places[0] if said["kind"] == "not" else (min if said["kind"] == "all_of" else max)(places)]
