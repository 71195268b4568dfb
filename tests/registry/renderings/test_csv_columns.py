"""A column of CSV means one thing, whatever the axes of a grid are called."""

import csv
import io
import json
from collections.abc import Callable
from typing import Any

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.storage.rows import axis_document, metric_document
from tests.registry.renderings import grid_documents
from tests.registry.renderings.documents import comparison_csv, of, ranking_csv, thresholds_csv
from tests.workers.statistics.documents import describe

AXIS = "the axis"
KINDS = Axis(AXIS, "nominal", (Level("a"), Level("b")))
STEPS = Axis("Step", "numeric", tuple(Level(str(n), float(n)) for n in range(6)))
VALUES = (99.3, 96.7, 98.3, 92.7, 87.7, 83.0, 82.0, 86.3, None, 100.0, 99.7, 99.7)


def described() -> dict[str, Any]:
    grid = Grid(Metric("accuracy", "%", "higher", 0.0, 100.0), (KINDS, STEPS), VALUES, 300)
    head = {"grid": "g", "revision": 1, "axes": [axis_document(axis) for axis in grid.axes]}
    return head | {"metric": metric_document(grid.metric)} | describe(grid)


CELL = {"baseline": 1.0, "contender": 2.0, "gap": 1.0, "better": True, "p": 0.5, "p_holm": 0.5, "test": "welch"}
CROSSING = {"level": 50.0, "side": "below", "first_failing": 3, "sustained_from": 1, "recovers": False}
FILES: dict[str, tuple[Callable[[Any], str], dict[str, Any]]] = {
    **{part: (of(part)["csv"], described()) for part in ("trends", "changes", "peaks", "coverage", "sensitivity")},
    "precision": (of("precision")["csv"], described()),
    "cells": (
        grid_documents.cells_csv,
        grid_documents.document([grid_documents.axis(AXIS, [1, 2], "numeric")], [1.0, 2.0], trials=3, stderr=[0.5, 1]),
    ),
    "cells that carry nothing": (
        grid_documents.cells_csv,
        grid_documents.document([grid_documents.axis(AXIS, ["a", "b"])], [1.0, 2.0]),
    ),
    "comparison": (comparison_csv, {"axes": [{"name": AXIS}], "cells": [CELL | {"at": {AXIS: "a"}}]}),
    "thresholds": (thresholds_csv, {"series": [{"along": "Step", "at": {AXIS: "a"}, "thresholds": [CROSSING]}]}),
    "ranking": (ranking_csv, {"by": f"axis:{AXIS}", "ranking": [{"rank": 1, "name": "a", "score": 0.5}]}),
}
RESERVED = {"cells": ["at", "repeats", "sd", "model_as_sent"]}


def read(text: str) -> tuple[list[str], list[list[str]]]:
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    return header, rows


def test_a_fixed_column_keeps_its_name_whatever_an_axis_is_called(subtests) -> None:
    of_axes = {AXIS, f"{AXIS}_num"}
    for name, (render, document) in FILES.items():
        plain, rows = read(render(document))
        assert rows
        for taken in [*(column for column in plain if column not in {*of_axes, "Step"}), *RESERVED.get(name, ())]:
            with subtests.test(msg=name, taken=taken):
                header, found = read(render(json.loads(json.dumps(document).replace(AXIS, taken))))
                assert len(set(header)) == len(header)
                assert header == [
                    column.replace(AXIS, f"axis_{taken}") if column in of_axes else column for column in plain
                ]
                assert found == [[cell.replace(AXIS, taken) for cell in row] for row in rows]


def test_axes_that_take_each_others_new_names_stay_apart() -> None:
    axes = [grid_documents.axis(name, ["a"]) for name in ("axis_value", "value", "=x", "'=x")]
    header, _ = read(grid_documents.cells_csv(grid_documents.document(axes, [[[[1.0]]]])))
    assert header[8:17:2] == ["axis_value", "axis_axis_value", "'=x", "axis_'=x", "value"]


def test_truth_is_written_as_json_writes_it() -> None:
    for name, truth in (("comparison", "true"), ("thresholds", "false")):
        assert truth in FILES[name][0](FILES[name][1])
    for render, document in FILES.values():
        assert not {"True", "False"} & {cell for row in csv.reader(io.StringIO(render(document))) for cell in row}
