"""`registry verify`: compute results again, every one or a sample, and compare."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import click

from registry.commands.servers import home_option, settings_of_servers
from registry.local import processes

_MOST_DRAWN = 1_000_000
"""Grids of which the ids are held in memory, a hundred megabytes."""
_LARGEST_SEED = (1 << 63) - 1


@click.command()
@home_option
@click.option("--project", help="The project's slug; every project if not given.")
@click.option("--most", type=click.IntRange(1), help="Stop after so many revisions, and say where to go on.")
@click.option("--after", help="Go on after this place, which the run before named.")
@click.option("--sample", metavar="N", type=click.IntRange(1, _MOST_DRAWN), help="Check N grids drawn at random.")
@click.option(
    "--seed", metavar="S", type=click.IntRange(0, _LARGEST_SEED), help="Draw as the run did that named this seed."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
def verify(home: Path | None, as_json: bool, **given: Any) -> None:
    """Compute digests, statistics and sums again from the stored revisions, and compare.

    Exit status 3 when something differs; each difference names its grid and revision. With --sample, the end says how
    much of all differs at most, with 95 % confidence, and the seed that draws the same again.
    """
    _refuse_contradictions(given)
    # Workers compute, and this package may not import them: the process is replaced by one that does.
    command = [sys.executable, "-P", "-m", "workers.verify", json.dumps(given | {"as_json": as_json})]
    processes.become(command, settings_of_servers(home))


def _refuse_contradictions(given: dict[str, Any]) -> None:
    if given["sample"] is None:
        if given["seed"] is not None:
            raise click.UsageError("--seed says which sample is drawn, and belongs to --sample.")
        return
    for name in ("most", "after"):
        if given[name] is not None:
            raise click.UsageError(
                f"--{name} divides a whole run, and --sample draws from all of it: give one of them."
            )
