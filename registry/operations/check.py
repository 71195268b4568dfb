"""Result of one check of `registry doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["good", "doubtful", "bad"]


@dataclass(frozen=True, slots=True)
class Check:
    """Result of a check, with advice unless it is good."""

    name: str
    state: State
    found: str
    advice: str = ""
