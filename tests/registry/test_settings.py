"""Settings do what they say, and say what they do; the limits are in test_limits.py."""

import re
import socket
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner

from registry import create_app
from registry.cli import main
from registry.errors import Misconfigured
from registry.settings import Settings, range_of, refuse_unknown
from tests import ROOT
from tests.house import House


@pytest.fixture(scope="module")
def limited(house: House) -> House:
    """An application with other settings."""
    more = {"token_days": 3, "max_range_cells": 4, "public_url": "https://results.example.org/", "max_wait": 1}
    other = replace(house.settings, **more)
    return House(create_app(other), house.database, other)


def test_settings_of_answers_are_kept_to(limited: House) -> None:
    project = limited.make_project()
    grid = project.published()
    assert grid["html_url"].startswith("https://results.example.org/grids/")
    limited.compute()
    answer = project.get(f"grids/{grid['id']}/statistics", headers={"Prefer": "wait=999"})
    assert answer.headers["Preference-Applied"] == "wait=1", "nobody waits longer than the longest wait"
    answer = project.get(f"grids/{grid['id']}/cells.csv", headers={"Range": "bytes=0-1"})
    assert (answer.status_code, answer.headers["Accept-Ranges"]) == (200, "none"), "more cells are sent whole"
    made = project.call("POST", f"projects/{project.slug}/tokens", "admin", json={"name": "x"}).get_json()
    lives = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=2) < lives <= timedelta(days=3)


MANUAL = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8").split("## Settings")[1].split("\n## ")[0]


def test_every_setting_stands_in_the_manual_with_its_default_and_range(subtests: pytest.Subtests) -> None:
    told: dict[str, str] = {}
    for line in re.findall(r"^\| (`REGISTRY_.*)\|$", MANUAL, re.MULTILINE):
        names, default, ranges, _ = (cell.strip() for cell in re.split(r"(?<!\\)\|", line, maxsplit=3))
        group = [name.lower() for name in re.findall(r"`REGISTRY_(\w+)`", names)]
        told |= dict.fromkeys(group, ranges)
        numbers = [getattr(Settings(), name) for name in group]
        if all(isinstance(number, int | float) for number in numbers):
            said = [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*\d(?:\.\d+)?|\d+(?:\.\d+)?", default)]
            with subtests.test(names):
                assert said == numbers
    assert [name for name in Settings().environment() if name.removeprefix("REGISTRY_").lower() not in told] == []
    for name, ranges in told.items():
        with subtests.test(name):
            assert not range_of(name) or range_of(name) in ranges.split("; ")


# Of each the word that the sentence has besides the name and the value.
WRONG = (
    """
PORT=70000 65,535|PORT=0 65,535|PORT=-1 65,535|PORT=http 65,535|PORT=80.5 whole|PORT=tcp://10.0.0.1:80 65,535
POOL_SIZE=0 500|POOL_SIZE=-3 500|POOL_SIZE=many 500|POOL_TIMEOUT=-1 600|STATEMENT_TIMEOUT=60 REQUEST_TIMEOUT
STATEMENT_TIMEOUT=0 0.01|REQUEST_TIMEOUT=1 STATEMENT_TIMEOUT|REQUEST_TIMEOUT=nan 600|REQUEST_TIMEOUT=inf 600
LOCK_TIMEOUT=0 0.01|IDLE_TIMEOUT=1e9 3,600|WEB_THREADS=100000 500|WEB_THREADS=0 500|WORKER_PROCESSES=0 500
LEASE_SECONDS=0 3,600|LEASE_SECONDS=soon 3,600|ATTEMPTS=0 100|BATCH_CELLS=0 1,000,000,000|DISPATCH_SECONDS=0 60
UNANSWERED_SECONDS=-1 3,600|RANKING_CELLS=-1 1,000,000,000|MAX_BODY=16M whole|MAX_CELLS=0 100,000,000
MAX_BATCH=0 100,000|MAX_NAME=5000 1,000|MAX_WAIT=3600 300|MAX_STREAMS=1000000 5,000|EVENT_DAYS=0 36,500
TOKEN_DAYS=1000000 36,500
PROXIES=yes 10|PROXIES=-1 10|SESSION_HOURS=0 8,760|TOKEN_RATE=-1 1,000,000|REPLICA_LAG=600 60|EXPORTS_SIZE=1T whole
PUBLIC_URL=registry.lab https://|PUBLIC_URL=ftp://registry.lab https://|PUBLIC_URL=https:// https://
HOSTS=http://a.b name|HOSTS=a.b,c/d name|HOST=http://0.0.0.0 name|CORS_ORIGINS=registry.lab https://
EMBED_ORIGINS=wiki https://|LOG_LEVEL=LOUD DEBUG|POOLER=statement session
PROXY_ADDRESSES=proxy address|PROXY_USER_HEADER=X:Y header|PROXY_SIGN_OUT=sign-out path|OIDC_ISSUER=http://id.lab https://
WEBHOOK_SCHEMES=ftp https
WEBHOOK_ALLOW=10.0.0.0/33 network|DATABASE_URL=mysql://h/d postgresql|REDIS_URL=amqp://h redis
PUBLIC_URL=http://h:99999 https://|REDIS_URL=redis://h:6379/zero number|REDIS_URL=redis://:a#b@h:6379/0 %23
REDIS_URL=redis://h:66666/0 number|DATABASE_URL=postgresql://h:99999/d 5432
DATABASE_URL=postgresql://h/d?nosuch=1 nosuch
DATABASE_URL=postgresql://h/d?sslmode=maybe verify-full|REPLICA_URL=postgresql://h/d?sslmode=maybe verify-full
DATABASE_URL=postgresql://h/d?target_session_attrs=writable read-write|DATABASE_URL= postgresql
EXPORTS=/dev/null directory|HOME=/dev/null directory|PG_BIN=/dev/null directory
OIDC_ISSUER=https:// id.example.org|PUBLIC_URL=https://a.b/#x https://
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def test_a_value_that_cannot_work_stops_the_process_with_its_name_and_range(subtests: pytest.Subtests) -> None:
    assert len(WRONG) >= 46
    for line in WRONG:
        given, word = line.split(" ")
        name, value = given.split("=", 1)
        with subtests.test(given):
            with pytest.raises(Misconfigured) as refused:
                Settings.from_environment({f"REGISTRY_{name}": value})
            said = refused.value.detail
            assert f"REGISTRY_{name}" in said or word == "STATEMENT_TIMEOUT"
            assert word in said
            assert said.endswith(".")
            assert "\n" not in said
    for name in Settings().environment():
        known = range_of(name.removeprefix("REGISTRY_").lower())
        if known:
            least, most = (one.replace(",", "") for one in known.split(" ")[:3:2])
            for value in (f"-{least}1", f"{most}1"):
                with subtests.test(name, value=value), pytest.raises(Misconfigured, match=name):
                    Settings.from_environment({name: value})
    own = replace(Settings(), home=Path.home())
    assert Settings.from_environment(own.environment()) == own


def test_up_begins_nothing_on_a_port_that_somebody_has(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        told = CliRunner().invoke(main, ["up", "--home", str(tmp_path / "home"), "--port", str(port)])
    assert told.exit_code != 0
    assert f"Port {port} of 127.0.0.1 cannot be had: another registry, or another program, has it." in told.output
    assert not list((tmp_path / "home").glob("*token*"))


def test_a_variable_that_nothing_reads_stops_a_process_of_the_service(subtests: pytest.Subtests) -> None:
    for command in ("serve", "worker", "dispatch", "up", "migrate"):
        with subtests.test(command):
            told = CliRunner().invoke(main, [command], env={"REGISTRY_POOL_SZIE": "9"})
            assert told.exit_code != 0
            assert "REGISTRY_POOL_SZIE is no setting; REGISTRY_POOL_SIZE is the nearest that is." in told.output
    theirs = (
        *("URL", "TOKEN", "PROJECT", "SPOOL", "SPOOL_BYTES", "COALESCE_SECONDS", "EXIT_SECONDS", "HOME", "COMMIT"),
        *("TEST_DATABASE_URL", "BI_HOST", "SERVICE_HOST", "PORT_8080_TCP_ADDR", "CLIENT_ANYTHING"),
    )
    refuse_unknown({f"REGISTRY_{name}": "x" for name in theirs} | Settings().environment())
    with pytest.raises(Misconfigured, match="has all that are"):
        refuse_unknown({"REGISTRY_QQQQQQQQQQQQ": "1"})
