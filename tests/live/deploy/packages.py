"""Build the distributions, install each into an empty environment, and use it: `make packages`.

    python -m tests.live.deploy.packages --into dist --python python3.11 --python python3.13

What is committed is built, not what lies about. Without --python: with every Python from 3.11 on that is on the PATH.
Where there is uv it also asks the index whether each pinned dependency has a wheel for the Pythons that are not there.
The tests of `test_packages.py` do the same with the packages that their own environment has.
"""

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT
from tests.live.namesakes import imported, lay
from tests.ports import free_port

HOOK = "import sys, setuptools.build_meta as backend; backend.build_sdist(sys.argv[1])"
PUBLISHES = """
from results_registry import flush, grids, log_grid, ranking
log_grid({("1", 0): 99.3}, axes=["Type", "Length"], experiment="packages", benchmark="b", model="m", metric="accuracy")
assert flush(30)
assert [grid["model"] for grid in grids(experiment="packages")] == ["m"]
assert ranking("window-by-ratio", "Pass@1")["state"] == "ready"
"""

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""Pythons for which every pinned dependency has to have a wheel."""


@dataclass(frozen=True)
class Built:
    """The source archive of a distribution, and the wheel that was built from it."""

    archive: Path
    wheel: Path


def build(source: Path, into: Path) -> Built:
    """Build with the setuptools of this environment; `source` is written to."""
    into.mkdir(parents=True, exist_ok=True)
    before = set(into.iterdir())
    said(sys.executable, "-c", HOOK, into, cwd=source)
    [archive] = set(into.glob("*.tar.gz")) - before
    said(sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", into, archive)
    [wheel] = set(into.glob("*.whl")) - before
    return Built(archive, wheel)


def said(*command: str | Path, cwd: Path | None = None, env: dict[str, str] | None = None) -> str:
    """What a command prints; RuntimeError with what it complained of when it fails."""
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)
    if ran.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def bare(**more: str) -> dict[str, str]:
    """This environment without what is set for the registry and for Python."""
    rest = {name: text for name, text in os.environ.items() if not name.startswith(("REGISTRY_", "PYTHON"))}
    return rest | more


@contextlib.contextmanager
def demo(environment: Path, directory: Path) -> Iterator[str]:
    """The address of `registry up --demo` of a virtual environment, started where files have our modules' names."""
    place, port, log = lay(directory / "place"), free_port(), directory / "up.log"
    command = [environment / "bin" / "registry", "up", "--demo", "--home", directory / "home", "--port", str(port)]
    with log.open("w") as complaints:
        process = subprocess.Popen(command, cwd=place, env=bare(), stdout=subprocess.PIPE, stderr=complaints, text=True)
    assert process.stdout is not None
    try:
        greeting = next((line for line in process.stdout if "Ctrl-C" in line), None)
        assert greeting, log.read_text()
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        assert process.wait(30) == 0
    assert imported(place) == ""


def page(address: str) -> str:
    """The body of a page."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        return str(answer.read().decode())


def use(python: str, service: Built, client: Built) -> None:
    """Install both distributions into empty environments of a Python, serve with one, publish with the other."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for environment, wanted in (("service", f"{service.wheel}[embedded]"), ("client", str(client.wheel))):
            said(python, "-m", "venv", directory / environment, env=bare())
            said(directory / environment / "bin" / "pip", "install", "--quiet", wanted, env=bare())
        assert "commit" in said(directory / "service" / "bin" / "registry", "--version", env=bare())
        with demo(directory / "service", directory) as address:
            assert "window-by-ratio" in page(f"{address}/projects/demo")
            token = (directory / "home" / "admin-token").read_text().strip()
            where = bare(REGISTRY_URL=address, REGISTRY_PROJECT="demo", REGISTRY_TOKEN=token)
            where["REGISTRY_SPOOL"] = str(directory / "spool")
            job = lay(directory / "job", standard=())
            said(directory / "client" / "bin" / "python", "-c", PUBLISHES, cwd=job, env=where)
            assert imported(job) == ""


def on_the_path() -> list[str]:
    """The Pythons that are there, and run."""
    names = [path for minor in range(11, 20) if (path := shutil.which(f"python3.{minor}"))]
    return [path for path in names if subprocess.run([path, "-V"], capture_output=True, check=False).returncode == 0]


def look_for_wheels(version: str) -> None:
    """RuntimeError if a dependency in deploy/constraints.txt has no wheel for a Python on Linux; downloads none."""
    asked = ("--dry-run", "--no-deps", "--only-binary", ":all:", "--python-version", version)
    pinned = ("--python-platform", "linux", "--requirement", ROOT / "deploy" / "constraints.txt")
    with tempfile.TemporaryDirectory() as name:
        said("uv", "pip", "install", "--quiet", "--target", name, *asked, *pinned)


def main() -> None:
    """Build what is committed, and use it with each Python; the first fault ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--into", type=Path, default=ROOT / "dist")
    parser.add_argument("--python", action="append")
    given = parser.parse_args()
    os.environ["REGISTRY_COMMIT"] = said("git", "-C", ROOT, "rev-parse", "HEAD").strip()
    shutil.rmtree(given.into, ignore_errors=True)
    with tempfile.TemporaryDirectory() as name:
        said("git", "-C", ROOT, "archive", "--output", Path(name) / "all.tar", "HEAD")
        said("tar", "xf", "all.tar", cwd=Path(name))
        service, client = build(Path(name), given.into), build(Path(name) / "client", given.into)
    for built in (service, client):
        print(built.archive, built.wheel, sep="\n")
    if shutil.which("uv"):
        for version in VERSIONS:
            look_for_wheels(version)
        print(f"every pinned dependency has wheels for Python {', '.join(VERSIONS)}")
    for python in given.python or on_the_path():
        begun = time.monotonic()
        use(python, service, client)
        print(f"{said(python, '-V').strip()}: installed, served and published in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
