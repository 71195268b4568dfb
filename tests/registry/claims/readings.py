"""An experiment whose sentences tests read: its names, axes and levels."""

from __future__ import annotations

from typing import Any

from registry.claims.parsing.parse import parse
from registry.claims.parsing.scope import Scope, spoken_names
from registry.grids.grid import Axis, Level, Metric

PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)


def numeric(name: str, *numbers: float) -> Axis:
    return Axis(name, "numeric", tuple(Level(f"{number:g}", number) for number in numbers))


TYPE = Axis("Type", "nominal", tuple(Level(str(number)) for number in range(1, 8)))
LENGTH = numeric("Length", *range(20))
WINDOW = numeric("Local Window Size", 500, 1000, 2000, 3000)
RATIO = numeric("Ratio", 0.1, 0.2, 0.3, 0.4, 0.5)


def scope(*axes: Axis, metric: Metric = PERCENT, benchmarks: str = "B", models: str = "M", **aliases: str) -> Scope:
    """One grid for every benchmark and model, which are separated by commas."""
    names = {"benchmark": benchmarks.split(","), "model": models.split(","), "variant": [""]}
    grids = [
        {"benchmark": one, "model": other, "variant": ""} for one in names["benchmark"] for other in names["model"]
    ]
    spoken = {facet: spoken_names(held, aliases if facet == "benchmark" else {}) for facet, held in names.items()}
    return Scope("e", metric, axes, spoken, tuple(grids))


TYPES = scope(TYPE, LENGTH)
WINDOWS = scope(
    WINDOW, RATIO, benchmarks="AIME'24,AIME'25,AMC23,GPQA_D", models="R1-Llama,R1-Qwen", AIME24="AIME'24"
)  # fmt: skip


def claims(text: str, *scopes: Scope, **about: str) -> list[dict[str, Any]]:
    """The candidates in a text without what they are about and their text."""
    return [_plain(one.claim) for one in parse(text, scopes or (TYPES,), about)[0]]


def _plain(claim: Any) -> Any:
    found = {name: said for name, said in claim.items() if name not in ("about", "text")}
    return found | {"claims": [_plain(one) for one in found["claims"]]} if "claims" in found else found


def reasons(text: str, *scopes: Scope, **about: str) -> list[str]:
    """Why the sentences of a text are unparsed."""
    return [one.reason for one in parse(text, scopes or (TYPES,), about)[1]]
