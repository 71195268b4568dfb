"""`registry sync`: send what jobs left in the spool."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from registry.commands.session import Session, asks_server
from results_registry.sync import synchronize


@click.command(name="sync")
@click.option("--spool", "directory", type=click.Path(path_type=Path), help="Another spool than REGISTRY_SPOOL's.")
@click.option("--any-url", is_flag=True, help="Send also what was meant for another registry.")
@click.option("--retry-refused", is_flag=True, help="Send also what a registry refused before.")
@asks_server
def sync_command(session: Session, directory: Path | None, any_url: bool, retry_refused: bool) -> None:
    """Send what jobs left in the spool, in the order in which it was logged.

    Grids of running jobs are left to them; what names no project goes to that of -p. Exit status: 0 everything was
    sent, 1 the registry refused some (they are set aside in the spool with the reason), 4 the token or the project
    will not do, 5 the registry did not answer; what was not sent stays.
    """
    sys.exit(synchronize(session.config, directory, any_url=any_url, retry_refused=retry_refused))
