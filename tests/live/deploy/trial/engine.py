"""Containers of the trial, as the engine tells of them."""

import json
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

LONGEST = 600


def run(*command: str, within: float = LONGEST, check: bool = True, **options: Any) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself; one that fails and may not raises what it said."""
    ran = subprocess.run(command, capture_output=True, text=True, timeout=within, check=False, **options)
    if check and ran.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {ran.returncode}:\n{ran.stdout}{ran.stderr}")
    return ran


def docker(*arguments: str, **options: Any) -> str:
    return run("docker", *arguments, **options).stdout.strip()


def compose(*arguments: str, **options: Any) -> str:
    return run("docker", "compose", *arguments, **options).stdout.strip()


def containers(service: str | None = None, *, ended: bool = False) -> list[dict[str, Any]]:
    """What `docker inspect` says of the composition's containers, or of those of one service."""
    ids = compose("ps", "--quiet", *(["--all"] if ended else []), *([service] if service else [])).split()
    return json.loads(docker("inspect", *ids)) if ids else []


def name_of(container: dict[str, Any]) -> str:
    return container["Config"]["Labels"]["com.docker.compose.service"]


def healthy() -> bool:
    """Whether every container that runs is healthy, and each service has one."""
    there = containers()
    services = set(compose("config", "--services").split()) - {"migrate"}
    states = {one["State"].get("Health", {}).get("Status") for one in there if name_of(one) != "migrate"}
    return {name_of(one) for one in there} - {"migrate"} == services and states == {"healthy"}


def until(condition: Callable[[], bool], within: float) -> float:
    """Seconds until the condition held; raises when it does not in time."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > within:
            raise RuntimeError(f"not within {within:.0f} s: {condition}")
        time.sleep(0.2)
    return time.monotonic() - began


def rows(query: str) -> list[list[str]]:
    """What the database of the composition answers, by its own client."""
    answer = compose(
        *("exec", "--no-TTY", "postgres", "psql", "-U", "registry", "-d", "registry", "-h", "/run/postgresql"),
        *("--no-psqlrc", "--tuples-only", "--no-align", "--command", query),
    )
    return [line.split("|") for line in answer.splitlines()]


def setting(name: str, value: str) -> None:
    """Write a line of .env anew."""
    path = Path(".env")
    lines = [line for line in path.read_text().splitlines() if not line.startswith(f"{name}=")]
    path.write_text("\n".join([*lines, f"{name}={value}"]) + "\n")
