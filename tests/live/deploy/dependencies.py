"""What the distributions need: as `pyproject.toml` says, as `deploy/` pins it, and as this environment has it."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests import ROOT

CONSTRAINTS = ROOT / "deploy" / "constraints.txt"
REQUIREMENTS = ROOT / "deploy" / "requirements.txt"


def needed(*extras: str) -> list[Requirement]:
    """What `results-registry` with these extras asks for itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in extras for line in project["optional-dependencies"][extra])]
    return [Requirement(line) for line in lines]


def pinned(path: Path) -> dict[str, str]:
    """The version of each package of a file of `deploy/`."""
    lines = [line.split("--hash")[0].rstrip(" \\") for line in path.read_text().splitlines() if re.match(r"\w", line)]
    found = {canonicalize_name(one.name): str(one.specifier) for one in map(Requirement, lines)}
    assert all(version.startswith("==") for version in found.values())
    return {name: version.removeprefix("==") for name, version in found.items()}


def installed_closure(*extras: str) -> set[str]:
    """The packages of this environment that these extras bring, with everything that comes along."""
    found: set[str] = set()
    left = [(canonicalize_name(one.name), one.extras) for one in needed(*extras)]
    while left:
        name, of_name = left.pop()
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # not on this platform
        if name in found and not of_name:
            continue
        found.add(name)
        for one in map(Requirement, lines):
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in (*of_name, "")):
                left.append((canonicalize_name(one.name), one.extras))
    return found
