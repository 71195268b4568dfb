"""Sending what dead jobs left in the spool: all of it, in the order of logging, once."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from results_registry.config import Config, spool_root
from results_registry.errors import ClientError, NotNow, Refused, Unreachable
from results_registry.sender import FINAL, TOGETHER
from results_registry.spool import CELLS, Item, QueueDir, Spool
from results_registry.upload import Uploader

_PATIENCE = 120.0
"""Seconds for which a server that is busy, or away for a moment, is asked again."""


class Waiting(NamedTuple):
    """An item and the directory that it waits in."""

    item: Item
    directory: QueueDir


class Outcome(NamedTuple):
    """The outcome of a run. `refused` and `held` say which and why; `unreachable` is set when it had to stop."""

    sent: int = 0
    refused: tuple[tuple[Item, Refused], ...] = ()
    held: tuple[tuple[str, ClientError], ...] = ()
    """Projects that the token may not write to."""
    left: int = 0
    """Items that still wait here, held ones included."""
    elsewhere: int = 0
    """Items for another registry, or without a project where none was named."""
    unreachable: Unreachable | NotNow | None = None


_NAMED = 20
"""Refused grids that are named; the others are counted."""


def synchronize(config: Config, directory: Path | None, *, any_url: bool, retry_refused: bool) -> int:
    """Send what waits in the spool, or in another directory, and say on the standard streams what came of it.

    Returns the exit status of a command: 0 everything was sent, 1 some was refused, 4 the token or the project will not
    do, 5 the registry did not answer.
    """
    spool = Spool(directory or spool_root(), 0)
    if retry_refused:
        _retry_refused(spool)
    outcome = sync(spool, config, any_url=any_url)
    sys.stdout.write(f"{_grids(outcome.sent)} sent.\n")
    sys.stderr.writelines(f"{line}\n" for line in (*_troubles(spool, config, outcome), *_notes(spool, outcome)))
    if outcome.unreachable is not None:
        return 5
    return 4 if outcome.held else 1 if outcome.refused else 0


def sync(spool: Spool, config: Config, *, any_url: bool = False) -> Outcome:
    """Send what waits for this registry; with `any_url` also what was meant for another.

    Items of running jobs are theirs to send. What names no project goes to the configured one.
    """
    with ExitStack() as stack:
        found = [Waiting(item, directory) for directory in _directories(spool, stack) for item in directory.items()]
        found.sort(key=lambda waiting: waiting.item.order)
        mine = [one for one in found if _is_mine(one.item, config, any_url)]
        outcome = Outcome(elsewhere=len(found) - len(mine), left=len(mine))
        run = _Run(config)
        for together in _groups(mine, config):
            outcome = run.send(together, outcome)
            if outcome.unreachable is not None:
                break
        run.close()
        return outcome


def _directories(spool: Spool, stack: ExitStack) -> Iterator[QueueDir]:
    for directory in spool.orphans():
        stack.callback(directory.close)
        yield directory


def _is_mine(item: Item, config: Config, any_url: bool) -> bool:
    here = any_url or item.url is None or item.url == config.url
    return here and (item.project or config.project) is not None


def _groups(mine: Sequence[Waiting], config: Config) -> Iterator[list[Waiting]]:
    """Grids one by one; cells of one grid that follow each other together."""
    group: list[Waiting] = []
    for one in mine:
        if group and not (_is_same_grid(group[0].item, one.item) and len(group) < TOGETHER):
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _is_same_grid(one: Item, other: Item) -> bool:
    both_cells = one.kind == other.kind == CELLS
    return both_cells and one.identity == other.identity and one.project == other.project


class _Run:
    """One run of `sync`: an uploader for each project, and the projects that let nobody in."""

    def __init__(self, config: Config) -> None:
        self._config, self._transport = config, config.transport(patience=_PATIENCE)
        self._uploaders: dict[str, Uploader] = {}
        self._held: set[str] = set()

    def close(self) -> None:
        self._transport.close()

    def send(self, together: list[Waiting], outcome: Outcome) -> Outcome:
        """Send items as one request; what the outcome is then."""
        project = together[0].item.project or self._config.project or ""
        if project in self._held:
            return outcome
        uploader = self._uploaders.setdefault(project, Uploader(self._transport, project, repeats=True))
        try:
            uploader.deliver([one.item for one in together])
        except (Unreachable, NotNow) as error:
            return outcome._replace(unreachable=error)
        except ClientError as error:
            if not isinstance(error, Refused) or error.status not in FINAL:
                self._held.add(project)
                return outcome._replace(held=(*outcome.held, (project, error)))
            if len(together) > 1:
                for one in together:
                    if outcome.unreachable is None:
                        outcome = self.send([one], outcome)
                return outcome
            [(item, directory)] = together
            directory.refuse(item, {"status": error.status, "detail": error.detail} | error.problem)
            return outcome._replace(refused=(*outcome.refused, (item, error)), left=outcome.left - 1)
        for one in together:
            one.directory.remove(one.item.key)
        return outcome._replace(sent=outcome.sent + len(together), left=outcome.left - len(together))


def _retry_refused(spool: Spool) -> None:
    refused = spool.refused()
    if refused:
        directory = spool.new_directory()
        for path in refused:
            path.rename(directory.path / path.name)
            path.with_suffix(".problem.json").unlink(missing_ok=True)
        directory.close()


def _troubles(spool: Spool, config: Config, outcome: Outcome) -> Iterator[str]:
    for item, error in outcome.refused[:_NAMED]:
        yield f"Refused: {item.said}: {error.detail}"
    if outcome.refused:
        yield f"{_grids(len(outcome.refused))} refused; see {spool.root / 'refused'} for the reasons."
    for name, reason in outcome.held:
        yield f'{config.url} does not let this token write to the project "{name}": {reason}'
    if outcome.unreachable is not None:
        yield outcome.unreachable.detail
    if outcome.left:
        yield f"{_grids(outcome.left)} left in {spool.root}."


def _notes(spool: Spool, outcome: Outcome) -> Iterator[str]:
    if outcome.elsewhere:
        yield f"{_grids(outcome.elsewhere)} for another registry, or without a project (--any-url, -p)."
    if running := spool.waiting() - outcome.left - outcome.elsewhere:
        yield f"{_grids(running)} of running jobs, which send for themselves."


def _grids(count: int) -> str:
    return "1 grid" if count == 1 else f"{count} grids"
