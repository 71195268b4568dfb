"""What building adds: the commit, to the wheel, and with it the files of the production shape to the source archive.

The commit is that of the checkout, unless `REGISTRY_COMMIT` says which it is: a container image is built without git.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
COMMIT = "commit.txt"
SHIPPED = ("docker-compose.yml", "deploy")


class BuildPy(build_py):
    """Into the wheel, beside the modules of `registry`."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:  # then nothing is copied: the files of the checkout are meant
            write_commit(Path(self.build_lib) / "registry")


class Sdist(sdist):
    """Into the source archive, where they were, so that wheels and images can be built from it without git."""

    def make_release_tree(self, base_dir: str, files: list[str]) -> None:
        super().make_release_tree(base_dir, files)
        write_commit(Path(base_dir))
        copy(Path(base_dir))


def write_commit(directory: Path) -> None:
    """Write the commit to a file, where it is known."""
    found = os.environ.get("REGISTRY_COMMIT") or _git("rev-parse", "HEAD")
    archived = ROOT / COMMIT
    if found:
        (directory / COMMIT).write_text(found.strip() + "\n")
    elif archived.exists():
        shutil.copyfile(archived, directory / COMMIT)


def copy(directory: Path) -> None:
    """Copy the files of the production shape; in a checkout what git knows, for a secret may lie beside it."""
    listed = _git("ls-files", *SHIPPED).split()
    for name in listed or [path for shipped in SHIPPED for path in _below(ROOT / shipped)]:
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, target)


def _below(place: Path) -> list[str]:
    found = [place] if place.is_file() else sorted(path for path in place.rglob("*") if path.is_file())
    return [str(path.relative_to(ROOT)) for path in found if "__pycache__" not in path.parts]


def _git(*words: str) -> str:
    """What git says of this checkout; empty where this is none."""
    if not (ROOT / ".git").exists():
        return ""
    try:
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return ""
