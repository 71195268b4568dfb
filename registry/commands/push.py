"""`registry push`: files of evaluation tools, tables and descriptions into the registry, through batches."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from registry.client.config import Config, find_config
from registry.client.environment import spool_root
from registry.commands.pushing import Push, Report
from registry.commands.status import CHECK_FAILED, ERROR, UNREACHABLE, USAGE
from registry.errors import RegistryError
from registry.importers import formats
from registry.importers.found import Overrides
from registry.importers.reading import Skipped, items_of, problem_lines
from registry.importers.showing import shown

_NAMED = 20


@click.command(name="push")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(["auto", *formats.MODULES]), default="auto", show_default=True)
@click.option("--dry-run", is_flag=True, help="Print the axes, cells and warnings, and send nothing.")
@click.option("--wait", is_flag=True, help="Wait until the statistics are there.")
@click.option("--experiment", help="Instead of what the file says.")
@click.option("--benchmark", help="Instead of what the file says.")
@click.option("--model", help="Instead of what the file says.")
@click.option("--variant", help="Instead of what the file says.")
@click.option("--metric", help="The metric's name; in a tidy table, the column of the values.")
@click.option("--unit", help="The metric's unit.")
@click.option("--direction", type=click.Choice(["higher", "lower"]), help="Which end of the metric is better.")
@click.option("--lower", type=float, help="The smallest value that is possible.")
@click.option("--upper", type=float, help="The largest value that is possible.")
@click.option("--trials", type=click.IntRange(min=1), help="The Bernoulli trials behind each value.")
@click.option("--rows", help="Of a pivot: the axis down the first column.")
@click.option("--columns", help="Of a pivot: the axis across the heading.")
@click.option("--numeric", multiple=True, metavar="AXIS", help="An axis of numbers; repeatable.")
@click.option("--ordinal", multiple=True, metavar="AXIS", help="An axis of names in an order; repeatable.")
@click.option("--nominal", multiple=True, metavar="AXIS", help="An axis of names, though they look like numbers.")
@click.option("--only", multiple=True, metavar="PATTERN", help="Take these metrics of a file; '*' takes all.")
@click.option("--label", "labels", multiple=True, metavar="KEY=TEXT", help="A label for every grid; repeatable.")
@click.option("--url", metavar="URL", help="The registry's address.")
@click.option("-p", "--project", metavar="SLUG", help="The project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def push(  # noqa: PLR0913, PLR0917 (each is an option)
    files: tuple[str, ...],
    form: str,
    dry_run: bool,
    wait: bool,
    labels: tuple[str, ...],
    url: str | None,
    project: str | None,
    as_json: bool,
    quiet: bool,
    **said: Any,
) -> None:
    """Send the grids of files, folders, or an MLflow server's URL.

    A file's format is told by its content. What was read with a doubt is a warning. The same content makes no second
    revision, and a push that was cut off goes on where it ended when it is run again.

    Exit status: 0 all was sent, 1 a file or a grid was at fault, 2 a wrong option, 3 statistics failed (--wait), 4 the
    token or the project will not do, 5 the registry did not answer: the rest waits in the spool for `registry sync`.
    """
    wanted = Overrides(**said, labels=_labels(labels))
    if missing := [name for name in files if "://" not in name and not Path(name).exists()]:
        raise click.UsageError(f"There is no file {missing[0]}.")
    if dry_run:
        sys.exit(_rehearse(files, form, wanted, as_json=as_json, quiet=quiet))
    config = find_config(url, project=project)
    if config.project is None:
        click.echo("No project: say --project, or set REGISTRY_PROJECT.", err=True)
        sys.exit(USAGE)
    sys.exit(_send(files, form, wanted, config, wait=wait, as_json=as_json, quiet=quiet))


def _labels(given: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    if wrong := [key for key, sign, _ in pairs if not sign or not key]:
        raise click.UsageError(f'A label is KEY=TEXT, not "{wrong[0]}".')
    return {key: text for key, _, text in pairs}


def _rehearse(files: Sequence[str], form: str, wanted: Overrides, *, as_json: bool, quiet: bool) -> int:
    """Show what would be stored."""
    faulty = 0
    for one in items_of(files, form, wanted):
        if isinstance(one, Skipped):
            faulty += one.is_fault
            _say_skipped(one, quiet=quiet)
            continue
        try:
            lines = shown(one)
        except RegistryError as error:
            faulty += 1
            for line in problem_lines(one, error):
                click.echo(line, err=True)
            continue
        if as_json:
            click.echo(json.dumps(one.document(), ensure_ascii=False))
        elif not quiet:
            click.echo("\n".join(lines))
    return ERROR if faulty else 0


def _send(
    files: Sequence[str], form: str, wanted: Overrides, config: Config, *, wait: bool, as_json: bool, quiet: bool
) -> int:
    run = Push(config, spool_root())
    loud = not quiet and not as_json
    with run, _progress(files, shown=loud and sys.stderr.isatty()) as tell:
        for one in items_of(files, form, wanted, tell):
            if isinstance(one, Skipped):
                run.skip(one)
            else:
                run.add(one)
        run.flush()
        if wait:
            run.wait()
    report = run.report
    if as_json:
        click.echo(json.dumps(report.document(), ensure_ascii=False))
    else:
        for line in _lines(report, quiet=quiet):
            click.echo(line, err=True)
        if not quiet and not sys.stdout.isatty():
            if report.grids:
                click.echo("\t".join(report.grids[0]))
            for grid in report.grids:
                click.echo("\t".join(map(str, grid.values())))
    if report.spooled:
        return UNREACHABLE
    if report.faults:
        return ERROR
    return CHECK_FAILED if report.failed else 0


def _say_skipped(one: Skipped, *, quiet: bool) -> None:
    if one.is_fault or not quiet:
        for line in one.lines():
            click.echo(line, err=True)


def _lines(report: Report, *, quiet: bool) -> Iterator[str]:
    """Warnings, faults and a sentence that counts."""
    if not quiet:
        for line, times in list(report.warnings.items())[:_NAMED]:
            yield f"Warning: {line}" + (f" ({times} times)" if times > 1 else "")
        if len(report.warnings) > _NAMED:
            yield f"… and {len(report.warnings) - _NAMED} more warnings (--json has all)."
    yield from (f"Error: {line}" for line in report.faults[:_NAMED])
    if len(report.faults) > _NAMED:
        yield f"… and {len(report.faults) - _NAMED} more errors."
    yield from report.failed
    if report.spooled:
        yield f"{report.unreachable} {report.spooled} grids wait in the spool: run `registry sync` later."
    if not quiet:
        yield report.sentence()


@contextmanager
def _progress(files: Sequence[str], *, shown: bool) -> Iterator[Any]:
    """A bar on standard error over the files."""
    if not shown:
        yield lambda: None
        return
    total = sum(1 for _ in formats.files_of([Path(name) for name in files if "://" not in name]))
    with click.progressbar(length=max(total, 1), label="Pushing", file=sys.stderr, show_pos=True) as bar:
        yield lambda: bar.update(1)
