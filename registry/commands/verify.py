"""`registry verify`: compute every result again and compare."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from registry.commands.servers import home_option, settings_of_servers
from registry.local import processes


@click.command()
@home_option
@click.option("--project", help="The project's slug; every project if not given.")
@click.option("--most", type=click.IntRange(1), help="Stop after so many revisions, and say where to go on.")
@click.option("--after", help="Go on after this place, which the run before named.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of lines.")
def verify(home: Path | None, project: str | None, most: int | None, after: str | None, as_json: bool) -> None:
    """Compute digests, statistics and sums again from the stored revisions, and compare.

    Exit status 3 when something differs; each difference names its grid and revision.
    """
    options = {"project": project, "most": most, "after": after, "as_json": as_json}
    # Workers compute, and this package may not import them: the process is replaced by one that does.
    command = [sys.executable, "-P", "-m", "workers.verify", json.dumps(options)]
    processes.become(command, settings_of_servers(home))
