"""The words in which a ranking is asked for."""

from __future__ import annotations

from typing import Literal

Method = Literal[
    "mean_difference",
    "standardised_difference",
    "mean",
    "adjusted_mean",
    "win_rate",
    "helm_win_rate",
    "bradley_terry",
    "mean_rank",
    "borda",
]
Missing = Literal["matched", "observed", "complete", "worst", "zero_votes", "zero_points"]
Target = Literal["rerun", "new_questions", "new_benchmarks"]
Estimand = Literal["difference", "lead"]
