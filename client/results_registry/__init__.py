"""The client for jobs and scripts. It needs the standard library and nothing else.

    from results_registry import log_grid
    log_grid(table, experiment="type-by-length", benchmark="AIME'24", model="Qwen-2.5 3B", metric="accuracy")

publishes from a job; `log_cells` adds to a grid while the job runs, `flush` waits for both; `grids`, `grid`, `cells`,
`trends`, `peaks`, `coverage`, `statistics`, `comparison`, `ranking` and `aggregates` read back; `plan` says what the
next measurement takes, `gate` whether a contender is as good as a baseline; `events` tells what happens;
`judge_claims`, `add_claims` and `claims` are about what is said of results; `Transport` is plain HTTP with the
registry's manners.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from results_registry.config import Config, find_config
    from results_registry.errors import (
        BadAddress,
        BadData,
        ClientError,
        NotAllowed,
        NotNow,
        NotThere,
        Refused,
        Unreachable,
    )
    from results_registry.http import Answer, Transport
    from results_registry.logging import flush, log_cells, log_grid
    from results_registry.reading import (
        add_claims,
        aggregates,
        cells,
        claim,
        claims,
        comparison,
        coverage,
        events,
        gate,
        grid,
        grids,
        judge_claims,
        peaks,
        plan,
        ranking,
        statistics,
        trends,
    )
    from results_registry.records import (
        AggregatesDocument,
        Cells,
        ComparisonDocument,
        GridDocument,
        RankingDocument,
        Records,
        StatisticsDocument,
    )
    from results_registry.sender import Receipt

__version__ = "0.3.0.dev0"
"""The version of the client and of the server, which are released together."""

__all__ = [
    "AggregatesDocument",
    "Answer",
    "BadAddress",
    "BadData",
    "Cells",
    "ClientError",
    "ComparisonDocument",
    "Config",
    "GridDocument",
    "NotAllowed",
    "NotNow",
    "NotThere",
    "RankingDocument",
    "Receipt",
    "Records",
    "Refused",
    "StatisticsDocument",
    "Transport",
    "Unreachable",
    "add_claims",
    "aggregates",
    "cells",
    "claim",
    "claims",
    "comparison",
    "coverage",
    "events",
    "find_config",
    "flush",
    "gate",
    "grid",
    "grids",
    "judge_claims",
    "log_cells",
    "log_grid",
    "peaks",
    "plan",
    "ranking",
    "statistics",
    "trends",
]

_MODULES = {
    "config": "Config find_config",
    "errors": "BadAddress BadData ClientError NotAllowed NotNow NotThere Refused Unreachable",
    "http": "Answer Transport",
    "logging": "flush log_cells log_grid",
    "reading": "add_claims aggregates cells claim claims comparison coverage events gate grid grids judge_claims peaks "
    "plan ranking statistics trends",
    "records": "AggregatesDocument Cells ComparisonDocument GridDocument RankingDocument Records StatisticsDocument",
    "sender": "Receipt",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """A public name, from its module, which is imported when it is first asked for: jobs pay for what they use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found
