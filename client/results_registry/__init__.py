"""The client for jobs and scripts. It needs the standard library and nothing else.

    from results_registry import log_grid
    log_grid(table, experiment="type-by-length", benchmark="AIME'24", model="Qwen-2.5 3B", metric="accuracy")

publishes from a job; `log_cells` adds to a grid while the job runs, `flush` waits for both; `grids`, `grid`, `cells`,
`statistics`, `comparison` and `ranking` read back; `Transport` is plain HTTP with the registry's manners.
"""

from __future__ import annotations

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
    from results_registry.http import Transport
    from results_registry.logging import flush, log_cells, log_grid
    from results_registry.reading import cells, comparison, grid, grids, ranking, statistics
    from results_registry.records import Cells, GridDocument, RankingDocument, Records
    from results_registry.response import Answer
    from results_registry.sender import Receipt

__version__ = "0.2.0"
"""The version of the client and of the server, which are released together."""

__all__ = [
    "Answer",
    "BadAddress",
    "BadData",
    "Cells",
    "ClientError",
    "Config",
    "GridDocument",
    "NotAllowed",
    "NotNow",
    "NotThere",
    "RankingDocument",
    "Receipt",
    "Records",
    "Refused",
    "Transport",
    "Unreachable",
    "cells",
    "comparison",
    "find_config",
    "flush",
    "grid",
    "grids",
    "log_cells",
    "log_grid",
    "ranking",
    "statistics",
]

_MODULES = {
    "config": (
        "Config",
        "find_config",
    ),
    "errors": (
        "BadAddress",
        "BadData",
        "ClientError",
        "NotAllowed",
        "NotNow",
        "NotThere",
        "Refused",
        "Unreachable",
    ),
    "http": ("Transport",),
    "logging": (
        "flush",
        "log_cells",
        "log_grid",
    ),
    "reading": (
        "cells",
        "comparison",
        "grid",
        "grids",
        "ranking",
        "statistics",
    ),
    "records": (
        "Cells",
        "GridDocument",
        "RankingDocument",
        "Records",
    ),
    "response": ("Answer",),
    "sender": ("Receipt",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, from its module, which is imported when it is first asked for: jobs pay for what they use."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = found
    return found
