"""`registry sync`: send what jobs left in the spool."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from registry.commands.screen import Screen
from registry.commands.session import Session, asks_server
from results_registry.config import spool_root
from results_registry.spool import Spool
from results_registry.sync import Outcome, Tell, grids, notes, status_of, sync, troubles
from results_registry.sync import retry_refused as let_refused_wait_again


@click.command(name="sync")
@click.option("--spool", "directory", type=click.Path(path_type=Path), help="Another spool than REGISTRY_SPOOL's.")
@click.option("--any-url", is_flag=True, help="Send also what was meant for another registry.")
@click.option("--retry-refused", is_flag=True, help="Send also what a registry refused before.")
@click.option("--list", "only_list", is_flag=True, help="Show what waits, and send nothing.")
@asks_server
def sync_command(session: Session, directory: Path | None, any_url: bool, retry_refused: bool, only_list: bool) -> None:
    """Send what jobs left in the spool, in the order in which it was logged.

    Grids of running jobs are left to them; what names no project goes to that of -p. Exit status: 0 everything was
    sent, 1 the registry refused some (they are set aside in the spool with the reason), 4 the token or the project
    will not do, 5 the registry did not answer; what was not sent stays.
    """
    spool, screen = Spool(directory or spool_root(), 0), session.screen
    if only_list:
        _list(spool, screen)
        return
    if retry_refused:
        let_refused_wait_again(spool)
    with _progress(shown=screen.notes_are_seen and not screen.quiet) as tell:
        outcome = sync(spool, session.config, any_url=any_url, tell=tell)
    if screen.json:
        screen.show_json(_document(spool, outcome))
    elif not screen.quiet:
        click.echo(f"{grids(outcome.sent)} sent.")
    for line in troubles(spool, session.config, outcome):
        click.echo(line, err=True)
    for line in notes(spool, outcome):
        screen.note(line)
    sys.exit(status_of(outcome))


@contextmanager
def _progress(*, shown: bool) -> Iterator[Tell]:
    """Progress bar on standard error."""
    if not shown:
        yield lambda _done, _all: None
        return
    with click.progressbar(length=1, label="Sending", file=sys.stderr, show_pos=True) as bar:

        def tell(done: int, total: int) -> None:
            bar.length = max(total, 1)
            bar.update(done - bar.pos)

        yield tell


def _document(spool: Spool, outcome: Outcome) -> dict[str, Any]:
    return {
        "spool": str(spool.root),
        "sent": outcome.sent,
        "left": outcome.left,
        "elsewhere": outcome.elsewhere,
        "refused": [
            {"grid": list(item.identity), "status": error.status, "detail": error.detail}
            for item, error in outcome.refused
        ],
        "held": [{"project": project, "detail": str(error)} for project, error in outcome.held],
        "unreachable": None if outcome.unreachable is None else outcome.unreachable.detail,
    }


def _list(spool: Spool, screen: Screen) -> None:
    """Print every item; in TSV and JSON only."""
    names = ("state", "url", "project", "kind", "experiment", "benchmark", "model", "variant", "metric", "key")
    rows = [(state, item.url, item.project, item.kind, *item.identity, item.key) for state, item in spool.everything()]
    if screen.json:
        screen.show_json([dict(zip(names, row, strict=True)) for row in rows])
    else:
        screen.show_tsv(names, rows)
