"""What a few drawn grids show of claims, and laws that any have, over many more of them."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from tests.workers.claims import (
    test_statements_by_brute_force,
    test_verdicts_keep_laws,
    test_verdicts_within_noise,
)
from workers.claims import trials

MODULES = test_verdicts_within_noise, test_statements_by_brute_force, test_verdicts_keep_laws
LAWS: list[Callable[[int], None]] = [
    test
    for module in MODULES
    for name, test in inspect.getmembers(module, inspect.isfunction)
    if name.startswith("test_") and list(inspect.signature(test).parameters) == ["seed"]
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__.removeprefix("test_"))
def test_it_is_so_in_every_drawn_world(
    subtests: Any, monkeypatch: pytest.MonkeyPatch, law: Callable[[int], None]
) -> None:
    monkeypatch.setattr(trials, "MOST_WORK", 0)  # how many trials decide is not asked
    for seed in range(12):
        with subtests.test(seed=seed):
            law(seed)
