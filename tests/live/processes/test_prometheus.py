"""Prometheus itself scrapes a running registry: what a lab's monitoring would see."""

import contextlib
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from tests.live.processes.system import System, awaited
from tests.ports import free_port


@pytest.fixture
def prometheus(system: System, tmp_path: Path) -> Iterator[str]:
    """Its address; it scrapes the web process every second."""
    if (program := shutil.which("prometheus")) is None:
        pytest.skip("prometheus is not here (Debian's package prometheus)")
    configuration = tmp_path / "prometheus.yml"
    target = f"127.0.0.1:{system.settings.port}"
    job = {"job_name": "registry", "static_configs": [{"targets": [target]}]}
    configuration.write_text(json.dumps({"global": {"scrape_interval": "1s"}, "scrape_configs": [job]}))
    address = f"127.0.0.1:{free_port()}"
    command = [
        program,
        f"--config.file={configuration}",
        f"--storage.tsdb.path={tmp_path / 'data'}",
        f"--web.listen-address={address}",
    ]
    with (tmp_path / "prometheus.log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as running:
        yield f"http://{address}"
        running.terminate()


def test_prometheus_sees_that_it_is_up_and_what_waits(system: System, prometheus: str) -> None:
    client = system.client()
    grid = client.publish(model="scraped")
    awaited(lambda: client.statistics(grid))

    def asked(query: str) -> list[Any]:
        with (
            contextlib.suppress(OSError),
            urlopen(f"{prometheus}/api/v1/query?{urlencode({'query': query})}") as answer,
        ):
            return list(json.load(answer)["data"]["result"])
        return []

    def value(query: str) -> float | None:
        return next((float(one["value"][1]) for one in asked(query)), None)

    awaited(lambda: value("up") == 1)
    awaited(lambda: value("registry_derivations_pending") == 0)
    names = {one["metric"]["__name__"] for one in asked('{job="registry"}')}
    assert {"registry_derivation_oldest_seconds", "registry_derivations_pending"} <= names
