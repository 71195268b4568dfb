"""The fixture `registry_gate` of pytest: a test publishes what it measured, and fails with the sentence of a gate.

pytest finds it wherever the client is installed; nothing is asked of a registry until a test takes the fixture.
"""

import warnings
from typing import Any

import pytest

from results_registry.config import find_config
from results_registry.logging import log_grid
from results_registry.reading import gate


class GateUndecided(UserWarning):
    """A gate shows neither that a contender is as good as its baseline nor that it is worse."""


class RegistryGate:
    """What a test holds in its hand."""

    def assert_not_worse(
        self, grid_or_cells: Any, baseline: str = "main", *, strict: bool = False, timeout: float = 60.0, **names: Any
    ) -> dict[str, Any]:
        """Publish what was measured, with the names and options of `log_grid`, and judge it by a baseline.

        `registry_gate.assert_not_worse(81.5, trials=1000, experiment="E", benchmark="B", model="M", metric="accuracy")`
        fails where the grid is shown to be worse than the policy allows, and answers with the verdict. Where neither is
        shown, nothing can be compared, or no verdict is there after so many seconds, it warns with the sentence, which
        names the trials that decide; with `strict` it fails. A grid that was published, or its id, has no names.

        Raises the client's errors where the registry refuses the grid or does not answer.
        """
        __tracebackhide__ = True
        where = {name: names[name] for name in ("url", "token", "project") if name in names}
        contender, published = grid_or_cells, names.keys() - where
        if published:
            contender = log_grid(grid_or_cells, strict=True, all_ranks=True, **names).grid or {}
        found = gate(baseline, contender, timeout=timeout, **where)
        sentence = f"{found['verdict']}: {found['sentence']}"
        if published:
            sentence = sentence.replace(contender["id"], f"{names['model']} ({contender['id']})")
        if found["passes"] is False or (strict and not found["passes"]):
            pytest.fail(sentence, pytrace=False)
        if found["passes"] is None:
            warnings.warn(GateUndecided(sentence), stacklevel=2)
        return found


@pytest.fixture(scope="session")
def registry_gate() -> RegistryGate:
    """Gates of the configured registry; skips the test where none is configured."""
    config = find_config()
    if not config.named or config.project is None:
        pytest.skip("no registry is configured: set REGISTRY_URL, REGISTRY_PROJECT and REGISTRY_TOKEN")
    return RegistryGate()
