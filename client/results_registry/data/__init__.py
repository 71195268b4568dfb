"""Read whatever a job holds as `axes` and `values` (or `cells`), for `log_grid` and `log_cells`, by duck typing."""

from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.data.blocks import (
    from_arrow,
    from_block,
    from_labelled,
    from_pandas,
    from_polars,
    from_series,
    is_array,
    is_arrow,
    is_labelled,
    is_pandas,
    is_polars,
    is_series,
)
from results_registry.data.records import from_mapping, from_records
from results_registry.data.table import Declared, Table, cell_documents, content, declared_axes
from results_registry.errors import BadData

__all__ = ["read_cells", "read_data"]

MAX_AXES = 4


def read_data(data: Any, axes: Any, names: Mapping[str, str], trials: Any = None, stderr: Any = None) -> dict[str, Any]:
    """The fields `axes`, `values`, `trials`, `stderr` or `cells` of a publication; raises `BadData`.

    `names` holds the grid's experiment, benchmark, model, variant and metric, which tidy data may repeat.
    """
    declared = declared_axes(axes)
    found = _table(data, declared, names, trials, stderr)
    if len(found.names) > MAX_AXES:
        raise BadData(f"A grid has at most {MAX_AXES} axes, not {len(found.names)}: {', '.join(found.names)}.")
    return content(found, declared)


def read_cells(data: Any, axes: Any, names: Mapping[str, str]) -> tuple[list[Declared], list[dict[str, Any]]]:
    """The axes and the tidy cells of what a running job has measured."""
    declared = declared_axes(axes)
    is_record = isinstance(data, Mapping) and ("at" in data or "value" in data)
    found = _table([data] if is_record else data, declared, names, None, None)
    known = {axis["name"]: axis for axis in declared}
    return [known.get(name, {"name": name}) for name in found.names], cell_documents(found)


def _table(data: Any, axes: Sequence[Declared], names: Mapping[str, str], trials: Any, stderr: Any) -> Table:
    if hasattr(data, "data_vars"):
        raise BadData("This is a Dataset of several variables: log one of them, dataset[name].")
    by_columns = ((is_pandas, from_pandas), (is_polars, from_polars), (is_arrow, from_arrow))
    for is_kind, read in by_columns:
        if is_kind(data):
            return read(data, axes, names, trials, stderr)
    if isinstance(data, Mapping):
        columns = [value for key, value in data.items() if isinstance(key, str) and isinstance(value, (list, tuple))]
        if columns and len(columns) == len(data) and ("value" in data or names["metric"] in data):
            if len({len(column) for column in columns}) > 1:
                raise BadData("The columns have different lengths.")
            rows = zip(*columns, strict=True)
            return from_records([dict(zip(data, row, strict=True)) for row in rows], axes, names, trials, stderr)
        return from_mapping(data, axes, trials, stderr)
    is_list = isinstance(data, Sequence) and not isinstance(data, str)
    if is_list and data and all(isinstance(one, Mapping) for one in data):
        return from_records(data, axes, names, trials, stderr)
    for is_kind, read_alone in ((is_labelled, from_labelled), (is_series, from_series)):
        if is_kind(data):
            return read_alone(data, axes, trials, stderr)
    if axes and not is_array(data) and not isinstance(data, (list, tuple)):
        raise BadData(f"One number has no axes, but {len(axes)} are given.")
    return from_block(data, axes, trials, stderr)
