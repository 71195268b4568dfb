"""What is tried, a function each: it does something to the composition and yields a row for each thing seen."""

import os
import re
import signal
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tests.live.deploy.trial.engine import compose, containers, docker, healthy, name_of, rows, run, setting, until
from tests.live.deploy.trial.load import Load, ask, grid

Row = tuple[str, str, bool]
"""What was looked at, what was seen, whether that is as it should be."""

SERVICES = ("web", "worker", "dispatcher", "redis", "postgres", "nginx")
USERS = {"web": 10001, "worker": 10001, "dispatcher": 10001, "redis": 999, "postgres": 999, "nginx": 101}
PROJECT = "trial"
PATIENCE = 300
"""Seconds; a busy machine is slow, which is no fault."""


class Trial:
    """A token of the running composition, and every grid that was acknowledged so far."""

    def __init__(self) -> None:
        self.token = ""
        self.acknowledged: set[str] = set()

    def load(self) -> Load:
        return Load(self.token, PROJECT)

    def lost(self, load: Load) -> tuple[str, bool]:
        """Whether each acknowledged grid is there once and gets its statistics."""
        self.acknowledged |= set(load.acknowledged)
        return self.kept()

    def kept(self) -> tuple[str, bool]:
        until(lambda: rows("SELECT count(*) FROM derivations WHERE state = 'pending'") == [["0"]], PATIENCE)
        there = {one for (one,) in rows("SELECT id FROM grids")}
        described = {one for (one,) in rows("SELECT grid_id FROM derivations WHERE state = 'ready'")}
        twice = rows("SELECT model FROM grids GROUP BY project_id, experiment, model HAVING count(*) > 1")
        lost, bare = self.acknowledged - there, self.acknowledged - described
        said = f"{len(self.acknowledged)} acknowledged: {len(lost)} lost, {len(bare)} undescribed, {len(twice)} twice"
        return said, not (lost or bare or twice)


def first_start(trial: Trial) -> Iterator[Row]:
    began = time.monotonic()
    compose("build", "web")
    yield "build of the image", f"{time.monotonic() - began:.0f} s", True
    began = time.monotonic()
    compose("up", "--detach")
    started = time.monotonic() - began
    until(healthy, PATIENCE)
    yield "`up` in an empty directory", f"{started:.1f} s, all healthy after {time.monotonic() - began:.1f} s", True
    trial.token = compose("exec", "--no-TTY", "web", "registry", "token", "--role", "admin", "--name", "trial").split()[
        -1
    ]
    status, _project = ask("POST", "/api/v1/projects", {"slug": PROJECT}, trial.token)
    path = f"/api/v1/projects/{PROJECT}/grids"
    grids = [ask("POST", path, grid(model, "first"), trial.token)[1] for model in ("One", "Two", "Three")]
    trial.acknowledged |= {one["id"] for one in grids}
    state = ask("GET", f"/api/v1/grids/{grids[0]['id']}/statistics", token=trial.token, Prefer="wait=30")
    query = f"/api/v1/projects/{PROJECT}/rankings?experiment=first&metric=accuracy"
    ranking = ask("GET", query, token=trial.token, Prefer="wait=30")
    seen = (status, state[0], state[1].get("state"), ranking[0], ranking[1].get("state"))
    yield "project, grids, statistics, ranking", str(seen), seen[:3] == (201, 200, "ready") and seen[3] == 200


def confinement(_trial: Trial) -> Iterator[Row]:
    secrets = re.findall(r"PASSWORD=(\w+)", Path(".env").read_text())
    faults, limits = [], []
    for one in containers():
        service, pid = name_of(one), one["State"]["Pid"]
        # The first process is docker-init where there is one; what it runs is its child.
        main = (
            int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
            if one["HostConfig"].get("Init")
            else pid
        )
        status = dict(
            line.split(":\t", 1) for line in Path(f"/proc/{main}/status").read_text().splitlines() if ":\t" in line
        )
        host = one["HostConfig"]
        seen = (int(status["Uid"].split()[0]), int(status["CapEff"], 16), status["NoNewPrivs"], host["ReadonlyRootfs"])
        if seen != (USERS[service], 0, "1", True):
            faults.append(f"{service} {seen}")
        if not host["Memory"] or not host["PidsLimit"]:
            faults.append(f"{service} without limits")
        limits.append(f"{service} {host['Memory'] >> 20}")
        lines = docker("top", one["Id"], "-o", "pid,args")
        if any(secret in lines for secret in secrets):
            faults.append(f"{service} shows a password")
    yield "users, no capabilities, read-only roots", "; ".join(faults) or "as written, in all six", not faults
    yield "limits of memory, MiB", ", ".join(sorted(limits)), True
    history = docker("history", "--no-trunc", "--format", "{{.CreatedBy}}", containers("web")[0]["Image"])
    yield (
        "secrets in the image's history",
        "none",
        not any(one in history + "" for one in [*secrets, "BEGIN CERTIFICATE"]),
    )
    used = docker("stats", "--no-stream", "--format", "{{.Name}} {{.MemUsage}}").replace("results-registry-", "")
    yield "memory used", "; ".join(line.split(" / ")[0] for line in sorted(used.splitlines())), True


def writes_only_where_it_may(_trial: Trial) -> Iterator[Row]:
    tried = run("docker", "compose", "exec", "--no-TTY", "web", "touch", "/srv/registry/x", check=False)
    yield "a write to the root", tried.stderr.strip()[-40:], tried.returncode != 0


def deaths(trial: Trial) -> Iterator[Row]:
    for service in SERVICES:
        with trial.load() as load:
            time.sleep(1)
            one = containers(service)[0]
            os.kill(one["State"]["Pid"], signal.SIGKILL)
            back = until(partial(back_after, service, one["State"]["Pid"]), PATIENCE)
            time.sleep(1)
        said, good = trial.lost(load)
        yield f"kill -9 of {service}", f"healthy after {back:.0f} s; {load.said()}; {said}", good


def back_after(service: str, pid: int) -> bool:
    """Whether a service's containers are all healthy, none with that process."""
    states = [one["State"] for one in containers(service)]
    return bool(states) and all(one["Pid"] not in (0, pid) and one["Health"]["Status"] == "healthy" for one in states)


def stops(trial: Trial) -> Iterator[Row]:
    with trial.load() as load:
        time.sleep(1)
        took = {}
        for service in ("worker", "dispatcher", "redis", "web", "nginx", "postgres"):
            began = time.monotonic()
            compose("stop", service)
            took[service] = time.monotonic() - began
    codes = {name_of(one): one["State"]["ExitCode"] for one in containers(ended=True)}
    compose("up", "--detach")
    until(healthy, PATIENCE)
    _said, good = trial.lost(load)
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in took.items())
    yield "`stop` under load", f"{times}; exit codes {sorted(set(codes.values()))}", good and set(codes.values()) == {0}


def scaling(trial: Trial) -> Iterator[Row]:
    setting("WEBS", "3")
    setting("WORKERS", "2")
    compose("up", "--detach")
    until(lambda: healthy() and len(containers("web")) == 3 and len(containers("worker")) == 2, PATIENCE)
    time.sleep(6)
    with trial.load() as load:
        time.sleep(5)
    busy = sum(
        '"POST"' in docker("logs", "--since", "5s", one["Id"])
        or "POST" in run("docker", "logs", "--since", "5s", one["Id"]).stderr
        for one in containers("web")
    )
    said, good = trial.lost(load)
    yield (
        "three web, two workers",
        f"{busy} of 3 took requests; {load.said()}; {said}",
        good and busy == 3 and not load.refused,
    )


def _upgrade(*arguments: str, **environment: str) -> tuple[int, str, float]:
    began = time.monotonic()
    ran = run("deploy/upgrade", *arguments, check=False, env=os.environ | environment)
    return ran.returncode, ran.stdout + ran.stderr, time.monotonic() - began


def _images() -> set[str]:
    return {one["Config"]["Image"] for service in ("web", "worker", "dispatcher") for one in containers(service)}


def upgrades(trial: Trial) -> Iterator[Row]:
    before = _images()
    for what, arguments in (("upgrade under load", ()), ("back under load", ("--back",))):
        with trial.load() as load:
            time.sleep(1)
            code, output, took = _upgrade(*arguments)
            time.sleep(1)
        said, good = trial.lost(load)
        moved = code == 0 and len(_images()) == 1 and (_images() == before) == bool(arguments)
        counted = (len(containers("web")), len(containers("worker"))) == (3, 2)
        seen = f"{took:.0f} s; {load.said()}; {said}"
        yield (
            what,
            seen if moved and counted else f"{seen}; {output[-300:]}",
            good and moved and counted and not load.refused,
        )


def failed_upgrades(trial: Trial) -> Iterator[Row]:
    wrong = "postgresql://registry:wrong@postgres:5432/registry"
    for what, broken in (
        ("a migration that fails", {"MIGRATE_DATABASE_URL": wrong}),
        ("a release that does not start", {"WEB_THREADS": "none", "LONGEST_START": "15"}),
    ):
        before = {one["Id"] for one in containers()}
        with trial.load() as load:
            code, output, took = _upgrade(**broken)
            time.sleep(1)
        said, good = trial.lost(load)
        same = {one["Id"] for one in containers()} == before
        word = output.strip().splitlines()[-1]
        yield what, f"{took:.0f} s, “{word}”; {load.said()}; {said}", code == 1 and same and good and not load.refused


def backup_and_restore(trial: Trial) -> Iterator[Row]:
    count = "SELECT count(*) FROM grids"
    held = rows(count)
    began = time.monotonic()
    run("sh", "-c", "docker compose exec -T worker registry backup - > registry.dump")
    took = time.monotonic() - began
    size = Path("registry.dump").stat().st_size
    ask("POST", f"/api/v1/projects/{PROJECT}/grids", grid("after the backup"), trial.token)
    compose("stop", "web", "worker", "dispatcher")
    run("sh", "-c", "docker compose run --rm -T migrate registry restore --replace - < registry.dump")
    compose("run", "--rm", "--no-TTY", "migrate")
    compose("up", "--detach")
    until(healthy, PATIENCE)
    said, good = trial.kept()
    now = rows(count)
    yield (
        "backup, restore over it",
        f"{took:.1f} s, {size / 1e6:.1f} MB; grids {held[0][0]} and {now[0][0]}; {said}",
        (good and held == now),
    )
    compose("down", "--volumes")
    compose("up", "--detach", "--wait", "postgres")
    run("sh", "-c", "docker compose run --rm -T --no-deps migrate registry restore - < registry.dump")
    compose("up", "--detach")
    until(healthy, PATIENCE)
    said, good = trial.kept()
    yield "restore after the loss of all volumes", said, good and rows(count) == held


def end(_trial: Trial) -> Iterator[Row]:
    compose("down", "--volumes")
    left = [
        *docker("ps", "--all", "--quiet", "--filter", "label=com.docker.compose.project").split(),
        *docker("volume", "ls", "--quiet", "--filter", "label=com.docker.compose.project").split(),
        *docker("network", "ls", "--quiet", "--filter", "label=com.docker.compose.project").split(),
    ]
    yield "after `down --volumes`", f"{len(left)} containers, volumes and networks left", not left


NEEDS = {"upgrades": ("scaling",), "failed_upgrades": ("scaling",)}
"""Steps that a step counts on, besides `first_start`."""
ALL = (
    first_start,
    confinement,
    writes_only_where_it_may,
    scaling,
    upgrades,
    failed_upgrades,
    backup_and_restore,
    stops,
    deaths,
    end,
)
