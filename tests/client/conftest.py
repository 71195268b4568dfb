from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from results_registry import Transport, outbox
from results_registry.errors import forget
from tests.client.tiny import Tiny, tiny_server
from tests.house import Project


@pytest.fixture(autouse=True)
def nobody_next_door(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A registry that runs on this machine is none of these tests' business."""
    monkeypatch.setenv("REGISTRY_HOME", str(tmp_path / "nobody"))


@pytest.fixture
def tiny() -> Iterator[Tiny]:
    with tiny_server() as server:
        yield server


@dataclass(frozen=True)
class Served:
    """A project of the registry behind a real port."""

    url: str
    project: Project

    @property
    def where(self) -> dict[str, str]:
        """What `log_grid` needs to publish there."""
        return {"url": self.url, "token": self.project.tokens["writer"], "project": self.project.slug}

    def transport(self) -> Transport:
        return Transport(self.url, self.project.tokens["writer"])

    def grids(self) -> list[dict[str, Any]]:
        """All grids, oldest first."""
        items = self.project.get(f"projects/{self.project.slug}/grids?limit=1000&sort=created_at").get_json()["items"]
        return list(items)

    def grid(self) -> dict[str, Any]:
        """The only grid, with its values."""
        [found] = self.grids()
        return dict(self.project.get(f"grids/{found['id']}").get_json())


@pytest.fixture
def served(address: str, project: Project) -> Served:
    return Served(address, project)


@pytest.fixture(autouse=True)
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The surroundings of a fresh job: a spool of its own, nothing in its environment, nothing said yet."""
    for name in ("URL", "TOKEN", "PROJECT", "ALL_RANKS", "EXIT_SECONDS", "SPOOL_BYTES", "COALESCE_SECONDS"):
        monkeypatch.delenv(f"REGISTRY_{name}", raising=False)
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    spool = tmp_path / "spool"
    monkeypatch.setenv("REGISTRY_SPOOL", str(spool))
    monkeypatch.setenv("REGISTRY_EXIT_SECONDS", "0.2")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    forget()
    yield spool
    outbox.end()
