"""What every finished task of Inspect is logged by: `inspect eval` finds it by the entry point `inspect_ai`.

With `REGISTRY_PROJECT` set, or a project in the client's configuration, each metric of each scorer becomes a grid, read
as `registry push` reads the log, and what cannot be sent waits in the spool for `registry sync`. The run never waits
and never fails because of it.
"""

import logging
from pathlib import Path
from typing import Any

from inspect_ai.hooks import Hooks, TaskEnd, hooks

from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.inspect_log import read
from registry.importers.source import Source
from results_registry import log_grid
from results_registry.config import find_config

_ASIDE = ("values", "experiment", "benchmark", "model", "metric")


@hooks(name="results_registry", description="Log the results of each task in the results registry")
class RegistryHooks(Hooks):
    """Logs a task at its end, if a project is configured and the task succeeded."""

    def enabled(self) -> bool:
        """Whether a project is named."""
        return find_config().project is not None

    async def on_task_end(self, data: TaskEnd) -> None:
        """Log the results of a task."""
        try:
            path = Path(data.log.location.removeprefix("file://"))
            log = Source(str(path), path) if path.is_file() else Source("", given=data.log.model_dump_json().encode())
            for found in read(log, Overrides()):
                sent = found.submission
                more = {name: given for name, given in sent.items() if name not in _ASIDE}
                log_grid(
                    sent["values"],
                    experiment=sent["experiment"],
                    benchmark=sent["benchmark"],
                    model=sent["model"],
                    metric=sent["metric"],
                    items=_items(found),
                    **more,
                )
        except Exception as error:  # an evaluation of hours is not lost to its record
            logging.getLogger("results_registry").warning("The task was not logged: %s", error)


def _items(found: ImportedGrid) -> dict[str, Any] | None:
    """The outcomes of the samples, as `log_grid` takes them."""
    if not found.items:
        return None
    [cell] = found.items[0]["cells"]
    known = {name: given for name, given in found.items[0]["set"].items() if name != "count"}
    return known | {name: cell[name] for name in ("outcomes", "repeats") if name in cell}
