"""Grids as files of JSON in a folder, as somebody without a registry keeps them.

A grid is a file that is written beside its place, flushed to the disk and renamed, so that a crash leaves no half of
it. A ranking reads every file and takes the mean of each model's cells: no intervals, no tests, no slots in common.
"""

import json
import multiprocessing
import os
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench.compare_mlflow import ALONE, CLIENTS, Measured

Make = Callable[[int], dict[str, Any]]


def write(folder: Path, number: int, grid: dict[str, Any]) -> None:
    """Write a grid so that it is there as a whole or not at all, and survives a crash."""
    waiting = folder / f"{number}.part"
    with waiting.open("w") as file:
        json.dump(grid, file)
        file.flush()
        os.fsync(file.fileno())
    waiting.rename(folder / f"{number}.json")
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)


def ranking(folder: Path) -> list[tuple[str, float]]:
    """Models by the mean of their cells, the best first."""
    cells: dict[str, list[float]] = defaultdict(list)
    for file in folder.glob("*.json"):
        grid = json.loads(file.read_text())
        cells[grid["model"]] += [value for row in grid["values"] for value in row if value is not None]
    means = {model: float(np.mean(values)) for model, values in cells.items()}
    return sorted(means.items(), key=lambda pair: -pair[1])


def measure_folder(folder: Path, count: int, make: Make) -> Measured:
    """Grids a second by one writer and by eight, and seconds of a first ranking and of one more."""
    alone = min(ALONE, count // 2)
    one, eight = (
        _rate(folder, numbers, writers, make)
        for numbers, writers in ((range(alone), 1), (range(alone, count), CLIENTS))
    )
    first, again = _seconds(folder, count), _seconds(folder, count)
    return Measured(one, eight, first, again)


def _rate(folder: Path, numbers: range, writers: int, make: Make) -> float:
    work = [(folder, numbers[i::writers], make) for i in range(writers)]
    with multiprocessing.get_context("fork").Pool(writers) as pool:
        begun = time.perf_counter()
        pool.map(_write_some, work, chunksize=1)
        return len(numbers) / (time.perf_counter() - begun)


def _write_some(work: tuple[Path, range, Make]) -> None:
    folder, numbers, make = work
    for number in numbers:
        write(folder, number, make(number))


def _seconds(folder: Path, count: int) -> float:
    begun = time.perf_counter()
    if not ranking(folder) or sum(1 for _ in folder.iterdir()) != count:
        raise RuntimeError("grids are missing in the folder")
    return time.perf_counter() - begun
