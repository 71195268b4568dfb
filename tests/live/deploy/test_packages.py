"""The distributions that are built here, installed and used; dependencies are those of this environment."""

import re
import shutil
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests import ROOT
from tests.live.deploy.packages import Built, bare, build, demo, page, said

COMMIT = "0123456789abcdef0123456789abcdef01234567"
FOLDERS = ("registry", "workers", "migrations", "client", "deploy")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "commit.txt")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Built:
    source = tmp_path_factory.mktemp("source")  # a build writes into its source
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, source / folder, ignore=LEFT_OUT)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, source)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("REGISTRY_COMMIT", COMMIT)
        return build(source, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def installed(service: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel, and beside it what this environment has of other packages."""
    directory = tmp_path_factory.mktemp("installed")
    venv.create(directory, with_pip=True)
    [packages] = directory.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(sysconfig.get_path("purelib") + "\n")
    said(
        directory / "bin" / "pip", "install", "--no-index", "--no-deps", "--force-reinstall", service.wheel, env=bare()
    )
    return directory


def contents(archive: Path) -> set[str]:
    """The files of a source archive, without the directory that all are in."""
    with tarfile.open(archive) as opened:
        return {member.name.partition("/")[2] for member in opened.getmembers() if member.isfile()}


def test_the_wheel_has_every_file_of_every_package(service: Built) -> None:
    homes = {"registry": ROOT, "workers": ROOT, "migrations": ROOT, "results_registry": ROOT / "client"}
    wanted = {
        str(path.relative_to(home))
        for package, home in homes.items()
        for path in (home / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    had = {name for name in zipfile.ZipFile(service.wheel).namelist() if ".dist-info/" not in name}
    assert had - {"registry/commit.txt"} == wanted - {"registry/commit.txt"}


def test_an_image_can_be_built_from_the_source_archive(service: Built) -> None:
    had = contents(service.archive)
    copied = re.findall(r"^COPY (?!--from)(.*) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    missing = [
        source
        for source in " ".join(copied).split()
        if source not in had and not any(name.startswith(f"{source}/") for name in had)
    ]
    assert missing == []
    assert {"Dockerfile", ".dockerignore", "docker-compose.yml", "commit.txt", "LICENSE"} <= had


def test_an_installed_wheel_tells_its_commit(installed: Path, tmp_path: Path) -> None:
    told = said(installed / "bin" / "registry", "--version", cwd=tmp_path, env=bare())
    assert told.endswith(f" (commit {COMMIT[:12]})\n")


def test_an_installed_wheel_serves_the_demonstration_beside_files_with_its_names(
    installed: Path, tmp_path: Path
) -> None:
    with demo(installed, tmp_path) as address:
        assert "window-by-ratio" in page(f"{address}/projects/demo")
        assert "Could not" not in page(f"{address}/projects/demo/claims")
    logs = {path.name: path.read_text(errors="replace") for path in (tmp_path / "home" / "logs").glob("*.log")}
    assert logs
    assert [name for name, text in logs.items() if "Traceback" in text] == []
