"""Figures: what a program of this directory measured, beside what was aimed at."""

from collections.abc import Iterable
from dataclasses import dataclass

SEVERAL = 3.0
"""A target that is missed by so many times is not said as a share."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measurement. `value` is None where nothing could be measured; `beside` then says why, else what it compares
    to."""

    name: str
    value: float | None
    unit: str
    at_most: float | None = None
    at_least: float | None = None
    beside: str = ""

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met; None without a target or a value."""
        if self.value is None or (self.at_most is None and self.at_least is None):
            return None
        return (self.at_most is None or self.value <= self.at_most) and (
            self.at_least is None or self.value >= self.at_least
        )

    @property
    def verdict(self) -> str:
        """`met`, or by how much the target is missed: a share of it, or how many times it; empty without a target."""
        if self.is_met is None:
            return "" if self.value is not None else "not measured"
        if self.is_met:
            return "met"
        target = self.at_most if self.at_most is not None and self.value > self.at_most else self.at_least
        times = self.value / target if target == self.at_most else target / max(self.value, 1e-9)
        if times >= SEVERAL:
            return f"missed {times:,.0f} times"
        share = abs(self.value - target) / target
        return f"missed by {share:.0%}" if share >= 0.01 else f"missed by {share:.1%}"

    @property
    def target(self) -> str:
        """The target as the table says it."""
        signs = (("≤", self.at_most), ("≥", self.at_least))
        return ", ".join(_amount(bound, self.unit, sign) for sign, bound in signs if bound is not None)

    @property
    def measured(self) -> str:
        """The value as the table says it, with what it compares to."""
        said = "" if self.value is None else _amount(self.value, self.unit)
        return f"{said} ({self.beside})" if said and self.beside else said or self.beside


def _amount(value: float, unit: str, sign: str = "") -> str:
    """A number with three digits at least, and its unit."""
    size = abs(value)
    text = f"{value:,.0f}" if size >= 100 or value == int(value) else f"{value:.1f}" if size >= 10 else f"{value:.2f}"
    return f"{sign} {text} {unit}".strip()


def show(figures: Iterable[Figure]) -> None:
    """Print each figure when it is there, for a program that runs alone."""
    for one in figures:
        aim = f"  (target {one.target}: {one.verdict})" if one.target else ""
        print(f"{one.name}: {one.measured}{aim}", flush=True)
