"""Cells of a stored grid as arrays of its shape, and the cells of a whole score matrix."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.grids.grid import Metric
from workers.statistics.noise import effect_of_repeats

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays of one shape. NaN: no value, standard error or design effect; 0: no trials, repeats or questions."""

    values: Floats
    trials: Integers
    stderr: Floats
    repeats: Integers
    questions: Integers
    design_effect: Floats

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> Columns:
        """Arrays in which nothing is known."""
        unknown, none = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
        return cls(unknown, none, unknown.copy(), none.copy(), none.copy(), unknown.copy())

    def flat(self) -> Columns:
        """The arrays flattened in row-major order."""
        return Columns(*(getattr(self, one.name).ravel() for one in fields(self)))

    def level(self, position: int, axis: int) -> Columns:
        """One level of an axis, flattened in row-major order."""
        return Columns(*(np.take(getattr(self, one.name), position, axis).ravel() for one in fields(self)))

    def put(self, row: int, places: Integers, cells: Columns, sign: int) -> None:
        """Write the measured cells into the given places of a row; with `sign` -1, values are negated."""
        measured = np.isfinite(cells.values)
        here = (row, places[measured])
        for one in fields(self):
            getattr(self, one.name)[here] = getattr(cells, one.name)[measured]
        self.values[here] *= sign

    def arrays(self) -> dict[str, Any]:
        """The arrays by name, `None` for those without any information."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return {
            name: array if name == "values" or np.any(np.isfinite(array) & (array != 0)) else None
            for name, array in found.items()
        }


def columns_of(row: Any, factor: float) -> Columns:
    """Cells of a revision, with values and errors multiplied by `factor`. A posted error beats one from repeats."""
    shape = [len(axis["levels"]) for axis in row.axes]
    values = np.array(row.values, dtype=np.float64).reshape(shape) * factor
    measured = np.isfinite(values)
    trials = np.where(measured, row.trials or 0, 0)
    if row.cell_trials is not None:
        trials = np.array([n or 0 for n in row.cell_trials], dtype=np.int64).reshape(shape)
    stderr, repeats = _errors(row, shape)
    return Columns(
        values=values,
        trials=trials,
        stderr=stderr * factor,
        repeats=repeats,
        questions=np.where(measured, row.questions or 0, 0),
        design_effect=np.where(measured, _effect(row), np.nan),
    )


def _effect(row: Any) -> float:
    """The design effect that was posted, or the one that repeats show; NaN without."""
    whole = Metric("", None, None, row.metric["lower"], row.metric["upper"]).proportion_of
    if row.design_effect is not None or whole is None or row.repeats is None or row.sd is None:
        return float(np.nan if row.design_effect is None else row.design_effect)
    trials = row.trials if row.cell_trials is None else row.cell_trials
    found = effect_of_repeats(row.values, trials, row.sd, row.repeats, whole)
    return float(np.nan) if found is None else found


def _errors(row: Any, shape: list[int]) -> tuple[Floats, Integers]:
    """Standard errors, and the number of repeats behind each (0: the error was posted)."""
    size = len(row.values)
    errors, counts = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    if row.repeats is not None and row.sd is not None:
        counts = np.array([n or 0 for n in row.repeats], dtype=np.int64)
        sd = np.array(row.sd, dtype=np.float64)
        np.divide(sd, np.sqrt(np.maximum(counts, 1)), out=errors, where=counts > 1)
        counts = np.where(np.isfinite(errors), counts, 0)
    if row.stderr is not None:
        posted = np.array(row.stderr, dtype=np.float64)
        errors = np.where(np.isfinite(posted), posted, errors)
        counts = np.where(np.isfinite(posted), 0, counts)
    return errors.reshape(shape), counts.reshape(shape)
