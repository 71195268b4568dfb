"""What is inside the image, as CycloneDX, and the licenses of all dependencies: `make sbom`.

    python -m tests.live.deploy.sbom dist/sbom.cdx.json

installs the versions of `deploy/requirements.txt` into an empty environment, and describes that.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from results_registry import __version__
from tests import ROOT
from tests.live.deploy.dependencies import REQUIREMENTS

Document = dict[str, Any]

SPDX = {
    "License :: OSI Approved :: BSD License": "BSD-3-Clause",
    "License :: OSI Approved :: Apache Software License": "Apache-2.0",
    "License :: OSI Approved :: Zope Public License": "ZPL-2.1",
    "License :: OSI Approved :: GNU Library or Lesser General Public License (LGPL)": "LGPL-3.0-or-later",
}
"""Names by which packages tell their license in older metadata. For BSD and LGPL it is the text that says which."""
UNTOLD = {"protobuf": "BSD-3-Clause", "resvg-py": "MIT"}
"""Licenses that a package has as a text alone."""


def describe(python: Path, into: Path, *, validate: bool = True) -> Document:
    """Write and return the bill of materials of a Python's environment, with the registry as its root.

    Validating it by the format's schema takes eight seconds.
    """
    command = [sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--of", "JSON"]
    command += [] if validate else ["--no-validate"]
    about = ["--mc-type", "application", "--pyproject", ROOT / "pyproject.toml", "--output-file", into, python]
    subprocess.run([*command, *about], check=True, capture_output=True)
    document: Document = json.loads(into.read_text())
    document["metadata"]["component"]["version"] = __version__  # the tool reads no dynamic one
    into.write_text(json.dumps(document, indent=2) + "\n")
    return document


def versions(document: Document) -> dict[str, str]:
    """The version of each package."""
    return {canonicalize_name(one["name"]): one["version"] for one in document["components"]}


def licenses(document: Document) -> dict[str, str]:
    """The license of each package, an SPDX expression; empty where it tells none."""
    found: dict[str, str] = {}
    for one in document["components"]:
        name = canonicalize_name(one["name"])
        told = [_name(license) for license in one.get("licenses", ())]
        exact = [text for text in told if not text.startswith("License ::")]
        found[name] = " OR ".join(exact or [SPDX.get(text, text) for text in told]) or UNTOLD.get(name, "")
    return found


def _name(told: Document) -> str:
    return str(told.get("expression") or told["license"].get("id") or told["license"]["name"])


def main() -> None:
    """Write the bill of the image's versions to the file that is given."""
    into = Path(sys.argv[1])
    into.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        python = Path(name) / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--require-hashes"]
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", name], check=True)
        subprocess.run([*pip, "--requirement", REQUIREMENTS], check=True)
        document = describe(python, into)
    for package, license in sorted(licenses(document).items()):
        print(f"{package} {versions(document)[package]}: {license}")


if __name__ == "__main__":
    main()
