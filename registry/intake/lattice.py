"""Values that cannot be a count of successes: with n trials a proportion lies on the lattice k / n.

A value printed with d decimals is on the lattice when some whole k has |scale k / n - value| <= 10^-d / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from registry.grid import Grid
from registry.intake.faults import REPORTED, Findings


def decimals(value: float) -> int:
    """How many decimals the shortest writing of a double has."""
    text = repr(value)
    if "e" in text:
        return max(0, -int(Decimal(text).normalize().as_tuple().exponent))
    _, _, fraction = text.partition(".")
    return 0 if fraction in ("", "0") else len(fraction)


def look(grid: Grid, place: Callable[[int], str], findings: Findings) -> None:
    """Doubt every value that no count out of its trials can produce."""
    scale = grid.metric.proportion_of
    if grid.trials is None or scale is None:
        return
    measured = [(index, value) for index, value in enumerate(grid.values) if value is not None]
    slack = 0.5 * 10.0 ** -max((decimals(value) for _, value in measured), default=0) + 1e-9
    off = []
    for index, value in measured:
        trials = grid.trials[index] if isinstance(grid.trials, tuple) else grid.trials
        if trials is not None and abs(round(value * trials / scale) * scale / trials - value) > slack:
            off.append((index, value, trials))
    for index, value, trials in off[:REPORTED]:
        findings.doubt("off_lattice", place(index), f"{value} is not a whole count out of {trials} trials")
    if len(off) > REPORTED:
        findings.doubt(
            "off_lattice", None, f"{len(off) - REPORTED} more values are not whole counts out of their trials"
        )
