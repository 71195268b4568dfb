"""The words in which a ranking or a table is asked for."""

from __future__ import annotations

from typing import Literal

Method = Literal["mean_difference", "mean", "win_rate", "bradley_terry", "borda"]
Missing = Literal["matched", "available", "complete", "worst", "zero_votes", "zero_points"]
Target = Literal["rerun", "new_questions", "new_benchmarks"]
Estimand = Literal["difference", "lead"]
Reduction = Literal["mean", "best", "count"]
"""How the cells of an entry of a table become one number."""
SlotPolicy = Literal["matched", "available"]
"""Which slots of a table's entries count: those that all have, or those that each has."""
NOBODY = ("none",)
"""The names that are set aside where none may be."""


OF_UNITS = ("mean_difference", "mean")
"""Methods whose scores are in the metric's unit."""


def common_to_all(method: str, missing: str) -> bool:
    """Whether an order is over slots that are common to all names."""
    return missing == "complete" or (missing == "matched" and method in ("mean", "borda"))


def unordered(method: str, missing: str) -> str | None:
    """Why a method has no order under a missing policy, whatever the values are; None where it has one."""
    if method in OF_UNITS and missing == "zero_votes":
        return "missing votes have wins and ranks, but no means; ask with method=win_rate"
    if missing == "zero_points" and method != "borda":
        return "only Borda's count gives points; ask with method=borda"
    return None
