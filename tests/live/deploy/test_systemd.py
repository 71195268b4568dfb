"""The units for machines without containers, against the compose file and systemd's own check."""

import configparser
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests import ROOT
from tests.live.deploy.compose_file import services

UNITS = ROOT / "deploy" / "systemd"
PROCESSES = ["web", "worker", "dispatcher", "migrate"]
HOME = "/opt/results-registry"


class Settings(configparser.ConfigParser):
    """The settings of a unit; of one that is given twice, the last."""

    def __init__(self, name: str) -> None:
        super().__init__(strict=False, interpolation=None)
        self.read(UNITS / name)

    def optionxform(self, option: str) -> str:
        return option


@pytest.mark.parametrize("process", PROCESSES)
def test_a_unit_starts_ends_and_may_do_what_a_container_does(process: str) -> None:
    service, container = Settings(f"results-registry-{process}.service")["Service"], services()[process]
    program, *arguments = service["ExecStart"].split()
    assert program.startswith(f"{HOME}/venv/bin/")
    assert [Path(program).name, *arguments] == container["command"]
    assert (service["DynamicUser"], service["ProtectSystem"], service["NoNewPrivileges"]) == ("yes", "strict", "yes")
    assert service["CapabilityBoundingSet"] == ""
    if process != "migrate":
        assert (service["Restart"], f"{service['TimeoutStopSec']}s") == ("always", container["stop_grace_period"])


def test_systemd_listens_where_nginx_looks_once_its_file_is_written_anew() -> None:
    (line,) = re.findall(r"^sed .*nginx\.conf$", (ROOT / "docs" / "operating.md").read_text(), re.MULTILINE)
    command = line.split(" > ")[0]
    written = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    listens = Settings("results-registry-web.socket")["Socket"]["ListenStream"]
    assert f"set $web http://{listens};" in written
    assert "/tmp/" not in written, "anybody may write there"  # noqa: S108


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_finds_no_fault_with_the_units(tmp_path: Path) -> None:
    scripts = sysconfig.get_path("scripts")
    for unit in UNITS.iterdir():
        text = unit.read_text().replace(f"{HOME}/venv/bin", scripts).replace(f"Documentation=file:{HOME}", "#")
        (tmp_path / unit.name).write_text(text)
    command = ["systemd-analyze", "verify", *map(str, tmp_path.iterdir())]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"SYSTEMD_COLORS": "0"})
    assert (ran.returncode, [line for line in ran.stderr.splitlines() if "results-registry" in line]) == (0, [])


def test_where_no_engine_can_be_made_the_trial_says_so(tmp_path: Path) -> None:
    (tmp_path / "id").write_text("#!/bin/sh\necho 1000\n")
    (tmp_path / "id").chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    command = [str(ROOT / "deploy" / "try-compose")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})
    assert (ran.returncode, ran.stdout) == (3, "")
    assert "no engine can be had here: this is not root" in ran.stderr
