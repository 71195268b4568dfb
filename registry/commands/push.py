"""`registry push`: send files of evaluation tools, tables and descriptions to the registry in batches.

`registry watch` does so as a harness writes them, `registry mapping` proposes how they are read, and `registry sync`
sends what jobs left in the spool.
"""

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import wraps
from pathlib import Path
from typing import Any

import click

from registry.commands.arguments import Finite, pairs_of
from registry.commands.group import ERROR, REFUSED, UNREACHABLE, USAGE, USER_ERRORS, UserError
from registry.commands.pushing import Push, Report
from registry.commands.session import Session, advised, asks_server
from registry.errors import Fault, Invalid, Malformed, RegistryError
from registry.grids.intake import Limits, read_submission
from registry.grids.intake.members import protocol_of_texts
from registry.grids.protocol import Value
from registry.importers import formats
from registry.importers.imported_grid import IDENTITY, Overrides
from registry.importers.mapping_file import read_mapping
from registry.importers.proposal import proposed
from registry.importers.reading import Item, Message, Skipped, Sources, distinct, items_of, missing_names
from registry.importers.source import Source
from results_registry.config import Config, find_config, spool_root
from results_registry.errors import NotThere
from results_registry.sync import synchronize

_LEVELS = 8
_DOUBTS = 3


def _several(_context: click.Context, _option: click.Parameter, given: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (given or "").split(",") if name.strip())


def _roles(_context: click.Context, _option: click.Parameter, given: Sequence[str]) -> dict[str, str]:
    return dict(pairs_of(given, "A column is NAME=HEADING, such as stderr=se"))


_READING = (
    click.option("--mapping", metavar="FILE|NAME", help="A TOML file that says how the files are read."),
    *(click.option(f"--{name}", help="Instead of what the file says.") for name in IDENTITY),
    click.option(
        "--model-from", type=click.Choice(["file", "folder"]), help="The model is called like its file, or its folder."
    ),
    click.option("--metric", help="The metric's name; in a tidy table, the column of the values."),
    click.option("--unit", help="The metric's unit."),
    click.option("--direction", type=click.Choice(["higher", "lower"]), help="Which end of the metric is better."),
    click.option("--lower", type=Finite(), help="The smallest value that is possible."),
    click.option("--upper", type=Finite(), help="The largest value that is possible."),
    click.option("--trials", type=click.IntRange(min=1), help="The Bernoulli trials behind each value."),
    click.option("--questions", type=click.IntRange(min=1), help="That the trials of each cell are about."),
    click.option("--design-effect", type=Finite(min=1), help="A cell's variance over that of independent trials."),
    click.option("--derived", is_flag=True, help="The values are made of other grids: shown, but not ranked."),
    click.option("--axes", callback=_several, metavar="NAMES", help="The columns, or keys of records, that are axes."),
    click.option("--value", metavar="NAMES", help="The columns, or keys of records, of the values: a metric each."),
    click.option(
        "--repeats",
        metavar="NAME",
        help="What tells repeats of a cell apart: a seed, a run, of records the file; row: each is one. No axis.",
    ),
    click.option("--drop", callback=_several, metavar="NAMES", help="Columns that say nothing of the cell."),
    click.option(
        "--column",
        "roles",
        callback=_roles,
        multiple=True,
        metavar="NAME=HEADING",
        help="Read a column or key as model, benchmark, stderr, trials …; repeatable.",
    ),
    click.option("--rows", help="Of a pivot: the axis down the first column."),
    click.option("--columns", help="Of a pivot: the axis across the heading."),
    click.option("--numeric", multiple=True, metavar="AXIS", help="An axis of numbers; repeatable."),
    click.option("--ordinal", multiple=True, metavar="AXIS", help="An axis of names in an order; repeatable."),
    click.option("--nominal", multiple=True, metavar="AXIS", help="An axis of names, though they look like numbers."),
    click.option("--only", multiple=True, metavar="PATTERN", help="Take these metrics of a file; '*' takes all."),
    click.option(
        "--exclude", "left_out", multiple=True, metavar="PATTERN", help="Leave out files or folders of such a name."
    ),
    click.option("--label", "labels", multiple=True, metavar="KEY=TEXT", help="A label for every grid; repeatable."),
    click.option("--protocol", multiple=True, metavar="KEY=VALUE", help="How every grid was measured; repeatable."),
    click.option("--description", metavar="MARKDOWN", help="A description for every grid."),
)


def reads_files(form: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorator: pass the command `sources`, which makes `Sources` of names, and add the options of reading files.

    `form`: the option that names the format of the files.
    """

    def decorated(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(*args: Any, form: str, left_out: tuple[str, ...], mapping: str | None, **given: Any) -> None:
            own = {one.name: given.pop(one.name) for one in fields(Overrides) if one.name in given}
            if own["model"] and own["model_from"]:
                raise click.UsageError("--model and --model-from both name the model: say one of them.")
            own |= {
                "labels": dict(pairs_of(own["labels"], "A label is KEY=TEXT")),
                "protocol": _protocol(own["protocol"]),
            }
            mapped = Sources() if mapping is None else read_mapping(mapping)
            said = {name: one for name, one in own.items() if one != getattr(Overrides(), name)}
            read = replace(mapped, wanted=replace(mapped.wanted, **said), left_out=(*mapped.left_out, *left_out))
            read = read if form == "auto" else replace(read, form=form)
            command(*args, sources=lambda names: replace(read, names=names), **given)

        for option in reversed(_READING):
            run = option(run)
        known = click.Choice(["auto", *formats.MODULES])
        return click.option(form, "form", type=known, default="auto", show_default=True, help="Of the files.")(run)

    return decorated


@click.command(name="push")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@reads_files("--format")
@click.option("--dry-run", is_flag=True, help="Print the axes, cells and warnings, and send nothing.")
@click.option("--url", metavar="URL", help="The registry's address.")
@click.option("-p", "--project", metavar="SLUG", help="The project.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors.")
def push(
    files: tuple[str, ...],
    sources: Callable[..., Sources],
    dry_run: bool,
    url: str | None,
    project: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Send the grids of files, folders, or an MLflow server's URL.

    A file's format is detected from its content. Doubtful readings give warnings. The same content makes no second
    revision: an interrupted push is run again.

    Exit status: 0 all was read and sent, 1 a file or a part of one was not read or a grid was refused (--exclude leaves
    files out), 2 a wrong option, 4 the token or the project will not do, 5 the registry
    did not answer: the rest waits in the spool for `registry sync`.
    """
    if missing := [name for name in files if "://" not in name and not Path(name).exists()]:
        raise click.UsageError(f"There is no file {missing[0]}.")
    if dry_run:
        sys.exit(_rehearse(sources(files), as_json=as_json, quiet=quiet))
    config = find_config(url, project=project)
    if config.project is None:
        click.echo("No project: say --project, or set REGISTRY_PROJECT.", err=True)
        sys.exit(USAGE)
    try:
        status = _send(sources(files), config, as_json=as_json, quiet=quiet)
    except NotThere as error:  # a push asks for nothing but its project
        click.echo(f"Error: {_advised(error, config)}", err=True)
        sys.exit(REFUSED)
    except USER_ERRORS as error:
        error.detail = _advised(error, config)
        raise
    sys.exit(status)


def _advised(error: UserError, config: Config) -> str:
    if isinstance(error, NotThere):
        who = "this token" if config.token else "a visitor without a token"
        project = f'There is no project "{config.project}" at {config.url} that {who} may see'
        return f"{project}: `registry ls projects` lists them, `registry project create {config.project}` makes it."
    return advised(error, config)


def _protocol(given: Sequence[str]) -> dict[str, Value]:
    try:
        return protocol_of_texts(given)
    except ValueError as error:
        raise click.UsageError(f'A protocol is KEY=VALUE, each key once, not "{error}".') from None


_REHEARSED = ("refused", "files", "read", "in_part", "at_fault", "unread", "grids", "faults")


def _rehearse(sources: Sources, *, as_json: bool, quiet: bool) -> int:
    report = Report()
    for one in distinct(items_of(sources), report.take):
        if isinstance(one, Skipped):
            report.skip(one)
            continue
        try:
            lines = shown(one)
        except RegistryError as error:
            report.refuse(one, one.faults(error))
            continue
        report.take(one)
        if as_json:
            report.grids.append(one.document())
        elif not quiet:
            click.echo("\n".join(lines))
    if as_json:
        click.echo(json.dumps({name: report.document()[name] for name in _REHEARSED}, ensure_ascii=False))
    for line in report.faults.shown("Error"):
        click.echo(line, err=True)
    if losses := list(report.losses()):
        click.echo(f"{'; '.join(losses)}.", err=True)
    return ERROR if report.faults else 0


def _send(sources: Sources, config: Config, *, as_json: bool, quiet: bool) -> int:
    run = Push(config, spool_root())
    loud = not quiet and not as_json
    with run, _progress(sources, shown=loud and sys.stderr.isatty()) as tell:
        for one in distinct(items_of(sources, tell), run.report.take):
            if isinstance(one, Skipped):
                run.report.skip(one)
            else:
                run.add(one)
        run.flush()
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
    return ERROR if report.faults else 0


def _lines(report: Report, *, quiet: bool) -> Iterator[str]:
    if not quiet:
        yield from report.warnings.shown("Warning")
    yield from report.faults.shown("Error")
    if report.spooled:
        yield f"{report.unreachable} {report.spooled} grids wait in the spool: run `registry sync` later."
    if not quiet or report.faults:
        yield report.sentence()


@contextmanager
def _progress(sources: Sources, *, shown: bool) -> Iterator[Any]:
    if not shown:
        yield lambda: None
        return
    paths = [Path(name) for name in sources.names if "://" not in name]
    total = sum(1 for _ in formats.files_of(paths, sources.left_out, sources.files))
    with click.progressbar(length=max(total, 1), label="Pushing", file=sys.stderr, show_pos=True) as bar:
        yield lambda: bar.update(1)


def shown(one: Item) -> list[str]:
    """Lines of a dry run; raises `Invalid` for a grid that the registry would refuse."""
    sent = one.found.submission
    if missing := missing_names(sent):
        raise Invalid([Fault("", missing)])
    try:
        submission = read_submission({"variant": "", "axes": [], **sent}, Limits())
    except (TypeError, ValueError, AttributeError, LookupError):
        raise Malformed("This is not the JSON of a grid: a member is of another type than it must be.") from None
    grid, names = submission.grid, submission.names
    title = " · ".join(part for part in (names.experiment, names.benchmark, names.model, names.variant) if part)
    lines = [f"{one.source}: {title} — {_metric(sent['metric'])}"]
    for axis in grid.axes:
        lines.append(
            f"  {axis.name}, {axis.kind}, {len(axis.levels)} levels: {_some([level.label for level in axis.levels])}"
        )
    values = [value for value in grid.values if value is not None]
    extent = f", from {min(values):g} to {max(values):g}" if values else ""
    carried = [name for name in ("trials", "stderr") if getattr(grid, name) is not None]
    lines.append(
        f"  {grid.cell_count} of {len(grid.values)} cells{extent}" + (f"; with {', '.join(carried)}" if carried else "")
    )
    doubts = [(note.code, _within(one, told)) for note, told in zip(one.found.notes, one.warnings(), strict=True)]
    doubts += [(told.code, f"{one.at(told.pointer).lstrip(':')} {told.detail}") for told in submission.warnings]
    lines += [f"  warning: {doubt}" for doubt in _first_of_each_kind(doubts)]
    return lines


def _first_of_each_kind(doubts: Sequence[tuple[str, str]]) -> Iterator[str]:
    """At most a few doubts of each code; the last of them has the number of the others."""
    met: Counter[str] = Counter()
    every = Counter(code for code, _ in doubts)
    for code, doubt in doubts:
        met[code] += 1
        if met[code] <= _DOUBTS:
            more = every[code] - _DOUBTS if met[code] == _DOUBTS else 0
            yield f"{doubt} (and {more} more like this)" if more > 0 else doubt


def _within(one: Item, message: Message) -> str:
    place = message.place.removeprefix(one.source).lstrip(":")
    return f"{place}: {message.detail}" if place else message.detail


def _metric(metric: Mapping[str, Any]) -> str:
    unit = f" ({metric['unit']})" if metric.get("unit") else ""
    better = f", {metric['direction']} is better" if metric.get("direction") else ", neither end is better"
    lower, upper = metric.get("lower"), metric.get("upper")
    bounds = "" if lower is None and upper is None else f", {_bound(lower)} … {_bound(upper)}"
    return f"{metric['name']}{unit}{better}{bounds}"


def _bound(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def _some(labels: Sequence[str]) -> str:
    return ", ".join(labels[:_LEVELS]) + (" …" if len(labels) > _LEVELS else "") if labels else "none"


@click.command()
@click.argument("folders", metavar="FOLDER...", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False))
@reads_files("--format")
@click.option("--every", type=Finite(min=0.1), default=10.0, show_default=True, help="Seconds between two looks.")
@click.option("--url", metavar="URL", help="The registry's address.")
@click.option("-p", "--project", metavar="SLUG", help="The project.")
def watch(
    folders: tuple[str, ...], sources: Callable[..., Sources], every: float, url: str | None, project: str | None
) -> None:
    """Push the files of folders as a harness writes them, until Ctrl-C.

    A file is read once two looks in a row find it the same, and again when it changes; the same content makes no second
    revision. What a registry does not answer to waits in the spool.
    """
    config = find_config(url, project=project)
    if config.project is None:
        raise click.UsageError("No project: say --project, or set REGISTRY_PROJECT.")
    asked = sources(folders)
    before: dict[Path, tuple[int, int]] = {}
    read: dict[Path, tuple[int, int]] = {}
    while True:
        found = {path: _state(path) for path in formats.files_of(list(map(Path, folders)), asked.left_out, asked.files)}
        due = [path for path, state in found.items() if before.get(path) == state != read.get(path)]
        if due:
            read |= {path: found[path] for path in due}
            _send(sources(tuple(map(str, due))), config, as_json=False, quiet=False)
        before = found
        time.sleep(every)


def _state(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:  # it went away
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def mapping(file: Path) -> None:
    """Propose a mapping for a CSV, JSON or YAML file: TOML with what is doubtful in comments.

    Correct it, try it by `registry push --dry-run --mapping MAPPING FILE`, and push the archive by it.
    """
    click.echo(proposed(Source(str(file), file)), nl=False)


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
