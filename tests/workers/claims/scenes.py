"""Grids of the seeds and of tests as facts, and claims about them judged without a server."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from registry.claims.grammar import read_claim
from registry.demo import demo_grids
from registry.grids.grid import Axis, Grid, Level, Metric, plain_label
from registry.grids.intake import Limits, read_submission
from registry.results.codec import to_document
from workers.claims.answer import judgement_of
from workers.claims.facts import Facts, Source
from workers.claims.judgement import judge_claim
from workers.claims.trials import trials_needed

ACCURACY = Metric("accuracy", "%", "higher", 0.0, 100.0)


def source(grid: Grid, place: int = 0, **names: str) -> Source:
    """A grid with its names, as if it was stored."""
    told = {"benchmark": "B", "model": "M", "variant": "", **names}
    return Source(told, f"00000000-0000-4000-8000-{place:012d}", 1, grid.digest, grid)


def seeds(experiment: str) -> Facts:
    """The grids of an experiment of the demo."""
    found = []
    for place, one in enumerate(demo_grids()):
        read = read_submission({"variant": "", **one}, Limits())
        if read.names.experiment == experiment:
            names = {name: getattr(read.names, name) for name in ("benchmark", "model", "variant")}
            found.append(source(read.grid, place, **names))
    return Facts.of(found)


def table(
    values: Sequence[Sequence[float | None]], rows: Sequence[str], columns: Sequence[float], **content: Any
) -> Grid:
    """A grid of T (labels) by L (numbers)."""
    metric = content.pop("metric", ACCURACY)
    axes = (
        Axis("T", "nominal", tuple(Level(row) for row in rows)),
        Axis("L", "numeric", tuple(Level(plain_label(number), float(number)) for number in columns)),
    )
    return Grid(metric, axes, tuple(value for row in values for value in row), **content)


def of(*rows: Sequence[float | None], **content: Any) -> Facts:
    """Rows of T (1, 2 ...) by L (0, 1 ...)."""
    return Facts.of([source(table(rows, [str(row + 1) for row in range(len(rows))], range(len(rows[0])), **content))])


def rows_of(name: str) -> list[dict[str, Any]]:
    """What a file beside the tests holds, one claim to a row."""
    rows: list[dict[str, Any]] = json.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))
    return rows


def facts_of(row: Mapping[str, Any]) -> Facts:
    """The cells of a row, with their noise."""
    content = {name: tuple(said) if isinstance(said, list) else said for name, said in row.get("noise", {}).items()}
    return of(*row["cells"], **content | ({"metric": Metric(*content["metric"])} if "metric" in content else {}))


def above(number: float, **more: Any) -> dict[str, Any]:
    return {"kind": "value", "is": {"op": ">", "number": number}, **more}


def denied(claim: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "not", "claims": [claim]}


SIDES: dict[str, Any] = {"kind": "compare", "left": {"T": [1]}, "right": {"T": [2]}}


def judged(facts: Facts, claim: Mapping[str, Any]) -> dict[str, Any]:
    """The judgement as it is sent."""
    found = judge_claim(read_claim(with_about(claim)), facts)
    document: dict[str, Any] = to_document(judgement_of(found, trials_needed(found)))
    return document


def with_about(claim: Mapping[str, Any], inherited: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The claim about an experiment, where neither it nor what it is a part of says."""
    about = {"experiment": "e", "metric": "m", **(inherited or {}), **claim.get("about", {})}
    if "claims" in claim:
        return {**claim, "claims": [with_about(one, about) for one in claim["claims"]]}
    return {**claim, "about": about}
