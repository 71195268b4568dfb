"""Read dictionaries: records (and tidy frames, by columns), nested by level, keyed by coordinates; item outcomes."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results_registry.data.table import Cell, Declared, Table, table
from results_registry.data.values import Level, level, measured, quantity, whole
from results_registry.errors import BadData
from results_registry.spool import IDENTITY

_CARRIED = {"value", "trials", "stderr"}
_BESIDE = ("trials", "stderr", "reason")
_ABOUT = ("project", "grid", "revision", "digest", "unit", "updated_at", "repeats", "sd", "ci_low", "ci_high")


def from_mapping(data: Mapping[Any, Any], axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    """`{("1", 0): 99.3}`, `{"1": {0: 99.3}}` or `{"1": 99.3}`; a leaf may be `{"value", "trials", "stderr"}`."""
    entries = list(_entries(data, ()))
    depths = {len(at) for at, _ in entries}
    if len(depths) > 1:
        raise BadData(f"Some coordinates have {min(depths)} levels, some {max(depths)}.")
    depth = depths.pop() if depths else len(axes)
    if axes and len(axes) != depth:
        raise BadData(f"The coordinates have {depth} levels, but there are {len(axes)} axes.")
    names = [axis["name"] for axis in axes] or [f"dim_{place}" for place in range(depth)]
    counts, errors = _beside(trials), _beside(stderr)
    cells = [_cell_of_leaf(at, leaf, counts, errors) for at, leaf in entries]
    return table(names, cells)


def _entries(data: Mapping[Any, Any], above: tuple[Level, ...]) -> Iterator[tuple[tuple[Level, ...], Any]]:
    for key, leaf in data.items():
        at = (*above, *(level(part) for part in key)) if isinstance(key, tuple) else (*above, level(key))
        if isinstance(leaf, Mapping) and not (leaf.keys() <= _CARRIED and "value" in leaf):
            yield from _entries(leaf, at)
        else:
            yield at, leaf


def _beside(given: Any) -> Any:
    """`trials` or `stderr` by coordinate, where they were given like the data; else the one for all."""
    return dict(_entries(given, ())) if isinstance(given, Mapping) else given


def _cell_of_leaf(at: tuple[Level, ...], leaf: Any, counts: Any, errors: Any) -> Cell:
    carried = leaf if isinstance(leaf, Mapping) else {"value": leaf}
    value = measured(carried["value"])
    if value is None or isinstance(value, str):
        return Cell(at, value)
    trials = carried.get("trials", counts.get(at) if isinstance(counts, dict) else counts)
    stderr = carried.get("stderr", errors.get(at) if isinstance(errors, dict) else errors)
    return Cell(at, value, whole(trials, "trials"), quantity(stderr, "stderr"))


def value_column(columns: Sequence[str], metric: str) -> str | None:
    """The column that holds the values: `value`, else the one named like the metric."""
    return next((name for name in ("value", metric) if name in columns), None)


def from_records(
    records: Sequence[Mapping[str, Any]],
    axes: Sequence[Declared],
    names: Mapping[str, str],
    trials: Any = None,
    stderr: Any = None,
) -> Table:
    """One mapping a cell: a key an axis, `value` (or the metric's name), and maybe `trials`, `stderr`, `reason`.

    The registry's own cells (`{"at": {…}, "value": …}`) are read too. Without `axes` every other key is one; columns
    that repeat the grid's own names are no axes.
    """
    flat = [_flat(record) for record in records]
    columns = list(dict.fromkeys(str(key) for record in flat for key in record))
    column = value_column(columns, names["metric"])
    if column is None:
        raise BadData(f'There is no column "value" or "{names["metric"]}" in {", ".join(columns) or "the records"}.')
    if {"grid", "revision"} <= {*columns} and "slice" in columns[columns.index(column) :]:
        raise BadData("These cells are a slice, and no grid to publish: what was posted has more.")
    wanted = [axis["name"] for axis in axes] or _axes_among(columns, column, flat, names)
    if missing := [name for name in wanted if name not in columns and flat]:
        raise BadData(f"There is no column {missing[0]!r} in {', '.join(columns)}.")
    if ignored := [name for name in _left(columns, column, wanted) if len({_text(one.get(name)) for one in flat}) > 1]:
        raise BadData(f'The column "{ignored[0]}" varies, but is no axis.')
    return table(wanted, [_cell(record, wanted, column, trials, stderr) for record in flat])


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(record.get("at"), Mapping):
        return {**record["at"], **{key: value for key, value in record.items() if key != "at"}}
    return dict(record)


def _axes_among(
    columns: Sequence[str], column: str, flat: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> list[str]:
    """The columns that are axes when nobody said which."""
    for name in IDENTITY:
        if name in columns and {_text(record.get(name)) for record in flat} - {names[name]}:
            raise BadData(f'The column "{name}" says something else than {name}={names[name]!r}: log each for itself.')
    return _left(columns, column, ())


def _left(columns: Sequence[str], column: str, wanted: Sequence[str]) -> list[str]:
    """Columns that are no axis and not about the cell or grid; `x_num` beside `x` is the feed's number of a level,
    and `protocol` beside a grid and its revision is how the feed says it was measured."""
    known = (column, *wanted, *_BESIDE, *IDENTITY, *_ABOUT, *(f"{name}_num" for name in columns))
    if {"grid", "revision"} <= {*columns}:
        known = (*known, "protocol")
    return [name for name in columns if name not in known]


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _cell(record: Mapping[str, Any], wanted: Sequence[str], column: str, trials: Any, stderr: Any) -> Cell:
    try:
        at = tuple(level(record.get(name)) for name in wanted)
    except BadData as error:
        raise BadData(f"{error.detail} The record is {dict(record)!r}.") from None
    value = measured(record.get(column))
    reason = record.get("reason")
    if value is None or isinstance(value, str):
        return Cell(at, value, reason=reason if isinstance(reason, str) and value is None else None)
    own = whole(record.get("trials"), "trials"), quantity(record.get("stderr"), "stderr")
    return Cell(
        at,
        value,
        whole(trials, "trials") if own[0] is None else own[0],
        quantity(stderr, "stderr") if own[1] is None else own[1],
    )


_FIELDS = ("name", "ids", "digest", "clusters", "outcomes", "repeats")


def read_items(given: Mapping[str, Any], axes: Sequence[str]) -> dict[str, Any]:
    """The body that the registry takes, `{"set", "cells"}`."""
    if wrong := [name for name in given if name not in _FIELDS]:
        raise BadData(f"Items have {', '.join(_FIELDS)}, not {wrong[0]!r}.")
    if not given.get("name") or given.get("outcomes") is None:
        raise BadData("Items need a name and their outcomes.")
    outcomes = given["outcomes"]
    cells = outcomes if isinstance(outcomes, Mapping) else {(): outcomes}
    repeats = whole(given.get("repeats"), "repeats")
    more = {} if repeats is None else {"repeats": repeats}
    scores = {key: _scores(one) for key, one in cells.items()}
    sent = [{"at": _at(key, axes), "outcomes": one} | more for key, one in scores.items()]
    counts = set(map(len, scores.values()))
    if len(counts) != 1:
        raise BadData("Every cell needs an outcome of each item.")
    known = {name: given[name] for name in ("name", "digest") if given.get(name)}
    ids = {name: [str(one) for one in given[name]] for name in ("ids", "clusters") if given.get(name) is not None}
    return {"set": known | ids | {"count": counts.pop()}, "cells": sent}


def _at(key: Any, axes: Sequence[str]) -> dict[str, Any]:
    if isinstance(key, Mapping):
        return dict(key)
    levels = key if isinstance(key, tuple) else (key,)
    if len(levels) != len(axes):
        raise BadData(f"The coordinate {key!r} of the items needs a level for each of {', '.join(axes) or 'no axes'}.")
    return {axis: level(one) for axis, one in zip(axes, levels, strict=True)}


def _scores(given: Any) -> list[float]:
    found = []
    for one in given:
        score = measured(one)
        if score is None or isinstance(score, str) or not 0 <= score <= 1:
            raise BadData("An outcome of an item is a number from 0 to 1.")
        found.append(int(score) if score in (0, 1) else score)
    return found
