"""The manifest of a mirror: which files are its content, and up to which event each project is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from registry.errors import RegistryError
from registry.mirror.columns import CELLS, FORMAT, GRIDS, described

NAME = "manifest.json"


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
    """What a mirror has of a project.

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

    def having(self, one: MirroredProject) -> Manifest:
        """The manifest with this state of a project."""
        return replace(self, projects=dict(self.projects) | {one.project: one})

    def lacking(self, slug: str) -> Manifest:
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
