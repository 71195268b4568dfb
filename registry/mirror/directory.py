"""The directory of a mirror: one writer at a time, durable files, and a manifest that is replaced as a whole.

The manifest says which files are the content, and up to which event each project is told.
"""

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from registry.errors import Misconfigured, RegistryError
from registry.mirror.current_grids import CELLS, FORMAT, GRIDS, described

NAME = "manifest.json"
LOCK = ".mirror.lock"
_UNFINISHED = f".{NAME}.new"
_OURS = ("project=*/day=*/part-*.parquet", "project=*/grids-*.parquet")


class Unreadable(RegistryError):
    """A directory is no mirror that this version can continue."""

    code = "unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file of the mirror: its path below the directory, rows, bytes and SHA-256."""

    path: str
    rows: int
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartFile(WrittenFile):
    """A part: whole revisions that were published on one day, from events at the positions `first` to `last`."""

    part: int
    day: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Anchor:
    """An event that was read, and the cursor before it: once another event is there, the database was restored."""

    after: str
    event: str


@dataclass(frozen=True, slots=True)
class Superseded:
    """A file that queries may still read: its path, and since when it is not content any more (Unix time)."""

    path: str
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MirroredProject:
    """State of a project in a mirror.

    `cursor` is `after` of the events that are not told yet, `position` that of the last one that is. `number` is that
    of the next file: no number is used twice.
    """

    project: str
    id: str
    cursor: str
    position: int
    number: int
    grids: WrittenFile
    parts: tuple[PartFile, ...]
    superseded: tuple[Superseded, ...] = ()
    anchor: Anchor | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest: the registry's address and its projects by slug."""

    registry: str
    projects: Mapping[str, MirroredProject] = field(default_factory=dict)

    def having(self, one: MirroredProject) -> "Manifest":
        """The manifest with this state of a project."""
        return replace(self, projects=dict(self.projects) | {one.project: one})

    def lacking(self, slug: str) -> "Manifest":
        """The manifest without a project."""
        return replace(self, projects={name: one for name, one in self.projects.items() if name != slug})

    def paths(self) -> set[str]:
        """Every file that belongs to the mirror, superseded ones with them."""
        return {path for one in self.projects.values() for path in paths_of(one)}


def paths_of(one: MirroredProject) -> set[str]:
    """Every file of a project."""
    return {one.grids.path, *(part.path for part in one.parts), *(old.path for old in one.superseded)}


def manifest_text(manifest: Manifest) -> bytes:
    """The manifest as JSON."""
    document = {
        "format": FORMAT,
        "registry": manifest.registry,
        "written_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "columns": {"parts": described(CELLS), "grids": described(GRIDS)},
        "projects": [asdict(one) for _, one in sorted(manifest.projects.items())],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2)


def read_manifest(directory: Path) -> Manifest | None:
    """The manifest of a directory; None where there is none. `Unreadable` for one of another format."""
    try:
        document = orjson.loads((directory / NAME).read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{directory / NAME} cannot be read: {error}.") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Unreadable(f"{directory / NAME} is not of format {FORMAT}; mirror into another directory.")
    projects = {one["project"]: _project(one) for one in document["projects"]}
    return Manifest(document["registry"], projects)


def _project(told: dict[str, Any]) -> MirroredProject:
    return MirroredProject(
        **told
        | {
            "grids": WrittenFile(**told["grids"]),
            "parts": tuple(PartFile(**part) for part in told["parts"]),
            "superseded": tuple(Superseded(**old) for old in told["superseded"]),
            "anchor": None if told["anchor"] is None else Anchor(**told["anchor"]),
        }
    )


class InUse(RegistryError):
    """Another process writes the directory."""

    code = "in_use"


class MirrorDirectory:
    """A directory that this process alone writes, and its manifest."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path, self.manifest = path, manifest

    def adopt(self, one: MirroredProject) -> None:
        """Make this the state of a project, and remove the files that it no longer names."""
        before = self.manifest.projects.get(one.project)
        known = set() if before is None else paths_of(before)
        self.replace_manifest(self.manifest.having(one))
        self._remove(known - paths_of(one))

    def drop(self, slug: str) -> None:
        """Remove a project with its files."""
        known = paths_of(self.manifest.projects[slug])
        self.replace_manifest(self.manifest.lacking(slug))
        self._remove(known)

    def damaged(self, slug: str) -> str | None:
        """A file of a project that is gone or has another size than the manifest says; None if all are there."""
        one = self.manifest.projects[slug]
        for file in (one.grids, *one.parts):
            try:
                size = (self.path / file.path).stat().st_size
            except FileNotFoundError:
                return file.path
            if size != file.bytes:
                return file.path
        return None

    def remove_unknown(self) -> None:
        """Remove what a killed run has left: files of our names that the manifest does not have."""
        known = self.manifest.paths()
        for pattern in _OURS:
            found = {str(file.relative_to(self.path)) for file in self.path.glob(pattern)}
            self._remove(found - known)

    def replace_manifest(self, manifest: Manifest) -> None:
        """Have this manifest in place of the one that is there; a reader sees the one or the other."""
        write_durably(self.path / _UNFINISHED, manifest_text(manifest))
        os.replace(self.path / _UNFINISHED, self.path / NAME)
        make_durable([self.path])
        self.manifest = manifest

    def _remove(self, paths: Iterable[str]) -> None:
        for path in sorted(paths):
            file = self.path / path
            file.unlink(missing_ok=True)
            with suppress(OSError):  # others are in it
                for parent in file.parents:
                    if parent == self.path:
                        break
                    parent.rmdir()


@contextmanager
def opened_directory(path: Path, registry: str) -> Iterator[MirrorDirectory]:
    """The directory, made if need be, for this process alone while the block lasts.

    `InUse` where another process has it, `Misconfigured` where it holds something else or mirrors another registry.
    """
    path.mkdir(parents=True, exist_ok=True)
    lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"Another run is writing {path}.") from None
        found = read_manifest(path)
        if found is None:
            others = sorted(file.name for file in path.iterdir() if file.name not in (LOCK, _UNFINISHED))
            if others:
                raise Misconfigured(f"{path} is no mirror and not empty ({others[0]}); name another directory.")
        elif found.registry != registry:
            raise Misconfigured(
                f"{path} mirrors {found.registry}, not {registry}: name another directory, or, if the registry has"
                f" moved, correct its address in {NAME}."
            )
        directory = MirrorDirectory(path, found or Manifest(registry))
        if found is None:
            directory.replace_manifest(directory.manifest)
        directory.remove_unknown()
        yield directory
    finally:
        os.close(lock)


def write_durably(path: Path, content: bytes) -> None:
    """Write a file; it is on the disk afterwards."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def make_durable(directories: Iterable[Path]) -> None:
    """Have the names in these directories on the disk."""
    for directory in directories:
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
