"""The compose file against its schema, and what it must keep to. No container engine is needed."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from redis import AuthenticationError, Redis, RedisError

from registry.cli import main
from registry.local.embedded.programs import find_valkey
from registry.settings import MEBIBYTE, Settings
from tests import ROOT
from tests.live.deploy.compose_file import COMPOSE, services
from tests.live.processes.system import awaited
from tests.ports import free_port

ONE_SHOT = {"migrate"}
OURS = ["migrate", "web", "worker", "dispatcher"]
ALL = sorted(services())


def test_the_compose_file_fits_the_compose_specification() -> None:
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    ran = subprocess.run(check, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("name", ALL)
def test_a_container_is_watched_and_can_do_and_take_no_more_than_it_must(name: str) -> None:
    service = services()[name]
    if name in ONE_SHOT:
        assert (service["healthcheck"], service["restart"]) == ({"disable": True}, "no")
    else:
        assert service["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
        assert (service["restart"], "stop_grace_period" in service) == ("unless-stopped", True)
    assert (service["read_only"], service["cap_drop"], service.get("privileged")) == (True, ["ALL"], None)
    assert "no-new-privileges:true" in service["security_opt"]
    allowed = {"postgres": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}}
    assert set(service.get("cap_add", ())) == allowed.get(name, set())
    assert re.search(r"\d+[gm]\b", service["mem_limit"])
    assert service["pids_limit"]
    assert re.search(r":.*\d", service["image"]), "it has a version"
    assert "container_name" not in service, "it would forbid --scale"
    assert "PASSWORD" not in str(service.get("command"))


def test_only_nginx_is_reachable_and_from_this_machine_only() -> None:
    published = {name: service["ports"] for name, service in services().items() if "ports" in service}
    assert published == {"nginx": ["${LISTEN:-127.0.0.1:8080}:8080"]}


def test_nginx_does_not_see_the_network_of_the_database() -> None:
    networks = {name: set(service["networks"]) for name, service in services().items()}
    assert networks["nginx"] & networks["postgres"] == set()
    assert networks["nginx"] & networks["redis"] == set()
    assert networks["nginx"] & networks["web"]


def test_no_password_has_a_default() -> None:
    uses = re.findall(r"\$\{\w*PASSWORD(.{0,2})", COMPOSE.read_text())
    assert len(uses) >= 4
    assert set(uses) == {":?"}
    assert not re.search(r"://[^$\s/]*:[^$\s/]+@", COMPOSE.read_text())


def test_every_password_stands_empty_in_the_example_environment() -> None:
    lines = (ROOT / "deploy" / "env.example").read_text().splitlines()
    wanted = set(re.findall(r"\$\{(\w+):\?", COMPOSE.read_text()))
    assert {line[:-1] for line in lines if re.fullmatch(r"\w+=", line)} == wanted


def test_the_exports_of_a_web_process_fit_where_they_lie() -> None:
    """And leave memory for the process."""
    (size,) = re.findall(r"^/tmp:size=(\d+)m$", services()["web"]["tmpfs"][0])
    assert int(size) > Settings().exports_size // MEBIBYTE
    assert services()["web"]["mem_limit"] == "${WEB_MEMORY:-2g}"


def test_nginx_reads_its_file_where_an_update_replaces_it() -> None:
    nginx = services()["nginx"]
    assert nginx["volumes"] == ["./deploy:/etc/nginx/registry:ro"]
    assert "nginx -c /etc/nginx/registry/nginx.conf" in nginx["command"][-1]
    assert "nginx -c /etc/nginx/registry/nginx.conf -s reload" in (ROOT / "deploy" / "upgrade").read_text()


def test_what_keeps_data_has_a_named_volume() -> None:
    volumes = set(yaml.safe_load(COMPOSE.read_text())["volumes"])
    assert volumes == {"postgres", "valkey"}
    for name, volume in (("postgres", "postgres"), ("redis", "valkey")):
        assert [kept.split(":")[0] for kept in services()[name]["volumes"]] == [volume]


def test_redis_writes_its_log_and_evicts_nothing() -> None:
    command = services()["redis"]["command"][-1]
    assert "--appendonly yes" in command
    assert "--maxmemory-policy noeviction" in command


def test_redis_takes_its_password_and_ends_when_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "valkey-server").symlink_to(find_valkey())
    *shell, script = services()["redis"]["command"]
    port = free_port()
    own = script.replace("$$", "$").replace("valkey-server -", f"valkey-server - --port {port} --dir {tmp_path}")
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "REDISCLI_AUTH": "hunter2"}
    with subprocess.Popen([*shell, own], env=environment, stdout=subprocess.DEVNULL) as server:
        with Redis(port=port, password="hunter2") as client:
            awaited(lambda: answers(client), within=20)
        with Redis(port=port) as stranger, pytest.raises(AuthenticationError):
            stranger.ping()
        assert b"hunter2" not in Path(f"/proc/{server.pid}/cmdline").read_bytes()
        server.terminate()
        assert server.wait(20) == 0


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisError:
        return False


def test_nothing_serves_or_computes_before_the_tables_are_there() -> None:
    for name in ("web", "worker", "dispatcher"):
        needs = services()[name]["depends_on"]
        assert needs["migrate"]["condition"] == "service_completed_successfully"
        assert needs["postgres"]["condition"] == "service_healthy"
    assert services()["nginx"]["depends_on"]["web"]["condition"] == "service_healthy"


def test_the_tables_have_an_owner_of_their_own() -> None:
    urls = {name: services()[name]["environment"]["REGISTRY_DATABASE_URL"] for name in OURS}
    assert urls.pop("migrate").startswith("${MIGRATE_DATABASE_URL:-")
    assert urls.pop("web").startswith("${WEB_DATABASE_URL:-postgresql://registry_web:")
    assert {url.split(":-")[0] for url in urls.values()} == {"${DATABASE_URL"}


@pytest.mark.parametrize("name", OURS)
def test_variables_are_settings_and_commands_and_health_checks_are_there(name: str) -> None:
    service = services()[name]
    assert set(service["environment"]) <= set(Settings().environment())
    program, command, *_ = service["command"]
    assert (program, command in main.commands) == ("registry", True)
    if name not in ONE_SHOT:
        assert service["healthcheck"]["test"] == ["CMD", "python", "deploy/healthy.py", name]
        assert f"def {name}(settings" in (ROOT / "deploy" / "healthy.py").read_text()
