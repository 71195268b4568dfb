"""The programs of `make bench`, in the order in which they run. Each has a function `measure` that yields figures."""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from bench.figures import Figure

TINY: Mapping[str, Mapping[str, Any]] = {
    "main_job": {"grids": 8, "reads": 2, "seen": 2, "rate": 4.0},
    "describing": {"grids": 8, "together": 3, "times": 1},
    "scale": {"sizes": (1000,), "thousands": (), "reads": 3, "rounds": 2, "trials": 20},
    "leaderboard": {"models": 330, "benchmarks": 60, "ragged": False, "others": 20_000},
    "compare": {"grids": 120, "mlflow": False, "reads": 3},
    "memory": {"grids": 20, "idle": 0.5},
    "command_line": {"runs": 1},
    "client": {"turns": 1, "calls": 3},
    "flips": {"rounds": 2},
    "webhooks": {"events": 20, "grids": 8},
    "streams": {"grids": 8, "rounds": 1, "count": 6, "heard": 2},
    "pictures": {"cells": 1400, "times": 2, "grids": 10},
    "pages": {"rounds": 2},
    "trips": {},
    "importing": {"files": 20},
    "mirror": {"grids": 20, "changed": 2},
    "attacks": {"questions": 5, "side": 30, "most": 4},
}
"""Every program, with sizes by which it ends within seconds: for a test that it runs, not for a figure."""


def measure(name: str, *, tiny: bool = False) -> Iterator[Figure]:
    """The figures of a program, at its usual sizes or tiny ones."""
    found: Callable[..., Iterator[Figure]] = import_module(f"bench.{name}").measure
    return found(**(TINY[name] if tiny else {}))
