"""The cells of a stored grid as arrays of its shape, and those of a whole field."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays of one shape. NaN: no value, no error, no design effect; 0: no trials, no repeats, no questions."""

    values: Floats
    trials: Integers
    stderr: Floats
    repeats: Integers
    questions: Integers
    design_effect: Floats

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Columns:
        """Nothing is known."""
        unknown, none = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
        return cls(unknown, none, unknown.copy(), none.copy(), none.copy(), unknown.copy())

    def flat(self) -> Columns:
        """Row-major."""
        return Columns(*(getattr(self, one.name).ravel() for one in fields(self)))

    def level(self, position: int, axis: int) -> Columns:
        """One level of an axis, row-major."""
        return Columns(*(np.take(getattr(self, one.name), position, axis).ravel() for one in fields(self)))

    def put(self, row: int, places: Integers, cells: Columns, turn: int) -> None:
        """Write what was measured into places of a row; -1 turns the values."""
        measured = np.isfinite(cells.values)
        here = (row, places[measured])
        for one in fields(self):
            getattr(self, one.name)[here] = getattr(cells, one.name)[measured]
        self.values[here] *= turn

    def given(self) -> dict[str, Any]:
        """The arrays by their names, `None` for what nobody gave."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: array if name == "values" or np.any(np.isfinite(array) & (array != 0)) else None
            for name, array in found.items()
        }


def columns_of(row: Any, factor: float) -> Columns:
    """The cells of a revision, values and errors times a factor. A posted error goes before one from repeats."""
    shape = [len(axis["levels"]) for axis in row.axes]
    values = np.array(row.values, dtype=np.float64).reshape(shape) * factor
    measured = np.isfinite(values)
    trials = np.where(measured, row.trials or 0, 0)
    if row.cell_trials is not None:
        trials = np.array([n or 0 for n in row.cell_trials], dtype=np.int64).reshape(shape)
    stderr, repeats = _errors(row, shape)
    return Columns(
        values,
        trials,
        stderr * factor,
        repeats,
        np.where(measured, row.questions or 0, 0),
        np.where(measured, np.nan if row.design_effect is None else row.design_effect, np.nan),
    )


def _errors(row: Any, shape: list[int]) -> tuple[Floats, Integers]:
    """Standard errors, and the repeats that each was estimated from (0: it was posted)."""
    size = len(row.values)
    errors, counts = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    if row.repeats is not None and row.sd is not None:
        given = np.array([n or 0 for n in row.repeats], dtype=np.int64)
        sd = np.array(row.sd, dtype=np.float64)
        np.divide(sd, np.sqrt(np.maximum(given, 1)), out=errors, where=given > 1)
        counts = np.where(np.isfinite(errors), given, 0)
    if row.stderr is not None:
        posted = np.array(row.stderr, dtype=np.float64)
        errors = np.where(np.isfinite(posted), posted, errors)
        counts = np.where(np.isfinite(posted), 0, counts)
    return errors.reshape(shape), counts.reshape(shape)
