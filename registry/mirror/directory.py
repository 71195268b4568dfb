"""The directory of a mirror: one writer at a time, files that are durable before they are named, a manifest that is
replaced as a whole."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from registry.errors import Misconfigured, RegistryError
from registry.mirror.manifest import NAME, Manifest, MirroredProject, manifest_text, paths_of, read_manifest

LOCK = ".mirror.lock"
_UNFINISHED = f".{NAME}.new"
_OURS = ("project=*/day=*/part-*.parquet", "project=*/grids-*.parquet")


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
            _check_empty(path)
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


def _check_empty(path: Path) -> None:
    others = sorted(file.name for file in path.iterdir() if file.name not in (LOCK, _UNFINISHED))
    if others:
        raise Misconfigured(f"{path} is no mirror and not empty ({others[0]}); name another directory.")


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
