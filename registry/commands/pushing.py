"""One push: grids are sent to the registry in batches.

Error lines grouped by reason: of a reason that repeats in a thousand files only a few lines are shown.
"""

import hashlib
import math
import re
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from registry.errors import Malformed
from registry.importers.reading import Item, Message, Skipped, Sources, missing_names, named_of, with_warnings
from registry.renderings.words import counted
from results_registry.config import Config
from results_registry.errors import NotAllowed, NotNow, NotThere, Refused, Unreachable
from results_registry.origin import segment
from results_registry.spool import GRID, Spool, make_item

_SHOWN = 3
"""Lines shown for one reason; a further one counts the rest."""
_REASONS = 20
_VARIES = re.compile(r'"[^"]*"|\([^()]*\)|[-+]?\d[\w.,:-]*')
TOGETHER = 500
BYTES = 4 * 1024 * 1024
CELLS = 20_000
"""Limits of a batch, so that it is answered in time; a single grid may have more bytes or cells."""


@dataclass
class Reasons:
    """Lines of the form `PLACE: REASON`, in the order in which their reasons first occurred."""

    lines: dict[str, int] = field(default_factory=dict)
    """Number of occurrences of each line."""
    _by_reason: dict[str, list[str]] = field(default_factory=dict)

    def add(self, message: Message) -> None:
        line = str(message)
        self.lines[line] = self.lines.get(line, 0) + 1
        if self.lines[line] == 1:
            self._by_reason.setdefault(reason_of(message.detail), []).append(line)

    def __len__(self) -> int:
        return len(self.lines)

    def shown(self, what: str, elsewhere: str = "; --json has all") -> Iterator[str]:
        """At most a few lines for each reason, each after `what`; the rest of a reason is one line with their number,
        and where they are."""
        for lines in list(self._by_reason.values())[:_REASONS]:
            if len(lines) > _SHOWN:
                yield f"{what}: {lines[0]} (and {len(lines) - 1} more like this{elsewhere})"
                continue
            for line in lines:
                times = self.lines[line]
                yield f"{what}: {line}" + (f" ({times} times)" if times > 1 else "")
        if (more := len(self._by_reason) - _REASONS) > 0:
            yield f"… and {more} more reasons{elsewhere}."


def is_file(name: str) -> bool:
    """Whether a contender is a file, and no model: a folder is one if it is written with a slash at its end."""
    return Path(name).is_file() or name.endswith(("/", ".json"))


def all_of(read: Sources, done: str) -> list[Item]:
    """The grids of sources; `Malformed` if a part of them was not read, by which nothing is `done`."""
    grids: list[Item] = []
    faults = Reasons()
    for one in named_of(read):
        grids.append(one) if isinstance(one, Item) else faults.add(one)
    if faults:
        raise Malformed("\n".join([f"Not all was read, and nothing is {done}.", *faults.shown("Error", "")]))
    return grids


def reason_of(detail: str) -> str:
    """A sentence without the parts that differ between files: quoted names, numbers, and text behind a colon."""
    return _VARIES.sub("…", detail).partition(": ")[0]


@dataclass
class Report:
    """Result of a push."""

    new: int = 0
    same: int = 0
    spooled: int = 0
    refused: int = 0
    """Grids that were read, but not sent or not accepted."""
    taken: set[str] = field(default_factory=set)
    """Files of which a grid is there now, or waits in the spool."""
    faulty: set[str] = field(default_factory=set)
    """Files of which a grid was refused."""
    unread: set[str] = field(default_factory=set)
    """Files that were not read, or not to their end."""
    grids: list[dict[str, Any]] = field(default_factory=list)
    warnings: Reasons = field(default_factory=Reasons)
    faults: Reasons = field(default_factory=Reasons)
    unreachable: str = ""

    def sentence(self) -> str:
        """Summary in one line: the numbers of sent and unsent grids."""
        parts = [f"{self.new} new", f"{self.same} unchanged"]
        parts += [f"{self.refused} at fault"] if self.refused else []
        total = counted(self.new + self.same, "grid", "grids")
        summary = f"{total} from {counted(len(self.taken), 'file', 'files')}: {', '.join(parts)}"
        return "; ".join([summary, *self.losses()]) + "."

    def take(self, one: Item) -> None:
        """Record that a grid is there now, or that another file brought the same one."""
        self.taken |= one.files or {one.source}

    def skip(self, one: Skipped) -> None:
        """Record a file that was not read, or only in part."""
        self.unread |= one.files or {one.source}
        for message in one.faults():
            self.faults.add(message)

    def refuse(self, one: Item, faults: Iterable[Message]) -> None:
        """Record the faults of a grid."""
        self.refused += 1
        self.faulty |= one.files or {one.source}
        for message in faults:
            self.faults.add(message)

    def losses(self) -> Iterator[str]:
        """Files that brought nothing, or not all that they hold."""
        for name, lost in (("at_fault", "at fault"), ("unread", "not read"), ("in_part", "read in part")):
            if number := len(self.files()[name]):
                yield f"{counted(number, 'file was', 'files were')} {lost}"

    def files(self) -> dict[str, list[str]]:
        """Every file that was found, in one of four lists."""
        lost = self.faulty | self.unread
        found = {
            "read": self.taken - lost, "in_part": self.taken & lost,
            "at_fault": self.faulty - self.taken, "unread": self.unread - self.faulty - self.taken,
        }  # fmt: skip
        return {name: sorted(files) for name, files in found.items()}

    def document(self) -> dict[str, Any]:
        return {
            "new": self.new, "same": self.same, "spooled": self.spooled,
            "refused": self.refused, "files": len(self.taken), **self.files(), "grids": self.grids,
            "faults": list(self.faults.lines),
            "warnings": [{"detail": line, "times": times} for line, times in self.warnings.lines.items()],
        }  # fmt: skip


def positions(sent: dict[str, Any]) -> int:
    """Weight of a grid: its cells, including unmeasured ones. Anything that is no grid weighs one."""
    axes, cells = sent.get("axes"), sent.get("cells")
    levels = [axis.get("levels") for axis in axes if isinstance(axis, dict)] if isinstance(axes, list) else []
    shape = math.prod(len(given) for given in levels if isinstance(given, list) and given)
    return max(shape, len(cells) if isinstance(cells, list) else 0)


class Push:
    """Sends grids to one project."""

    def __init__(self, config: Config, spool: Path) -> None:
        assert config.project is not None  # noqa: S101 (the command asked)
        self.config, self.project = config, config.project
        self.transport = config.transport()
        self.report = Report()
        self.spool = spool
        self._waiting: list[tuple[Item, bytes]] = []
        self._size = self._cells = 0
        self._unreachable = False
        self._run = secrets.token_bytes(16)

    def __enter__(self) -> "Push":
        return self

    def __exit__(self, *_error: object) -> None:
        self.transport.close()

    def add(self, one: Item) -> None:
        report = self.report
        for message in one.warnings():
            report.warnings.add(message)
        if missing := missing_names(one.found.submission):
            report.refuse(one, [Message(one.source, missing)])
            return
        body = orjson.dumps(with_warnings(one.found))
        cells = positions(one.found.submission)
        if self._waiting and (self._size + len(body) > BYTES or self._cells + cells > CELLS):
            self.flush()
        self._waiting.append((one, body))
        self._size += len(body)
        self._cells += cells
        if len(self._waiting) >= TOGETHER:
            self.flush()

    def flush(self) -> None:
        """Send the waiting grids as one batch."""
        batch, self._waiting, self._size, self._cells = self._waiting, [], 0, 0
        if not batch:
            return
        if self._unreachable:
            self._keep(batch)
        else:
            self._post(batch)

    def _post(self, batch: list[tuple[Item, bytes]]) -> None:
        """Send a batch; one that is refused as a whole is halved, down to the faulty grid."""
        body = b"[" + b",".join(body for _, body in batch) + b"]"
        # Unique to this push: a later one must publish again instead of getting this one's stored response.
        key = hashlib.sha256(self._run + body).hexdigest()
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        try:
            answer = self.transport.call("POST", f"projects/{segment(self.project)}/grids/batch", body, headers=headers)
        except (Unreachable, NotNow) as error:
            self._unreachable, self.report.unreachable = True, error.detail
            self._keep(batch)
            return
        except (NotAllowed, NotThere):
            raise
        except Refused as error:
            if len(batch) == 1:
                self.report.refuse(batch[0][0], [Message(batch[0][0].source, error.detail)])
                return
            self._post(batch[: len(batch) // 2])
            self._post(batch[len(batch) // 2 :])
            return
        self._take(batch, answer.json()["items"])

    def _take(self, batch: list[tuple[Item, bytes]], items: list[dict[str, Any]]) -> None:
        report = self.report
        for (one, _), item in zip(batch, items, strict=True):
            if "problem" in item:
                report.refuse(one, one.problems(item["problem"]))
                continue
            grid = item["grid"]
            if not self._add_items(one, grid):
                self._keep([(one, b"")])
                continue
            report.take(one)
            report.new += item["status"] == 201
            report.same += item["status"] == 200
            names = ("id", "revision", "experiment", "benchmark", "model", "variant")
            report.grids.append({name: grid[name] for name in names} | {"metric": grid["metric"]["name"]})
            told = {(note.code, note.detail) for note in one.found.notes}
            for warning in grid.get("warnings", ()):
                if (warning["code"], warning["detail"]) in told:
                    continue
                report.warnings.add(Message(f"{one.source}{one.at(warning.get('pointer'))}", warning["detail"]))

    def _add_items(self, one: Item, grid: dict[str, Any]) -> bool:
        """Add the outcomes of the items to a grid that was accepted; False when the registry cannot be reached.

        A push that ends before leaves a grid without them, and is completed by another.
        """
        for body in one.found.items:
            query, path = {"revision": grid["revision"]}, f"grids/{grid['id']}/items"
            key = hashlib.sha256(self._run + grid["id"].encode() + orjson.dumps(body)).hexdigest()
            try:
                self.transport.call("POST", path, body, query=query, headers={"Idempotency-Key": key})
            except (Unreachable, NotNow) as error:
                self._unreachable, self.report.unreachable = True, error.detail
                return False
            except Refused as error:
                where = f"{one.source} ({body['set']['name']})"
                self.report.warnings.add(Message(where, f"outcomes of items were not added: {error.detail}"))
        return True

    def _keep(self, batch: list[tuple[Item, bytes]]) -> None:
        directory = Spool(self.spool, 0).new_directory()
        try:
            for number, (one, _) in enumerate(batch):
                self.report.take(one)
                order = self.report.spooled + number
                document = with_warnings(one.found)
                document = document | {"items": list(one.found.items)} if one.found.items else document
                directory.put(make_item(GRID, document, self.config.url, self.project, order))
            directory.secure()
        finally:
            directory.close()
        self.report.spooled += len(batch)
