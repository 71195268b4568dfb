"""Settings from a job's environment: where to spool, how long to wait at exit, which of many processes logs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

RANKS = (
    "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK",
    "JAX_PROCESS_ID",
)  # fmt: skip
_GIBIBYTE = 1 << 30


class ClientEnvironment(NamedTuple):
    """Each from the environment: `REGISTRY_SPOOL`, `…_SPOOL_BYTES`, `…_EXIT_SECONDS`, `…_COALESCE_SECONDS`.

    A value that cannot be read is the default: a job must not fail because of it.
    """

    spool: Path
    spool_bytes: int
    exit_seconds: float
    coalesce_seconds: float


def read_environment(environment: Mapping[str, str] | None = None) -> ClientEnvironment:
    environment = os.environ if environment is None else environment
    return ClientEnvironment(
        spool_root(environment),
        int(_number(environment.get("REGISTRY_SPOOL_BYTES"), _GIBIBYTE)),
        _number(environment.get("REGISTRY_EXIT_SECONDS"), 5.0),
        _number(environment.get("REGISTRY_COALESCE_SECONDS"), 1.0),
    )


def spool_root(environment: Mapping[str, str] | None = None) -> Path:
    """Where grids wait: `REGISTRY_SPOOL`, else below the user's state directory, else below the temporary one."""
    environment = os.environ if environment is None else environment
    if given := environment.get("REGISTRY_SPOOL"):
        return Path(os.path.abspath(os.path.expanduser(given)))
    state = environment.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    if os.path.isabs(state):
        return Path(state) / "results-registry" / "spool"
    import tempfile

    return Path(tempfile.gettempdir()) / f"results-registry-{os.getuid()}" / "spool"


def is_silent(all_ranks: bool | None, environment: Mapping[str, str] | None = None) -> str | None:
    """Why this process says nothing: it is one of many and not the first. None when it speaks.

    `all_ranks`, else `REGISTRY_ALL_RANKS=1`, lets every process speak.
    """
    environment = os.environ if environment is None else environment
    if all_ranks is None:
        all_ranks = environment.get("REGISTRY_ALL_RANKS", "").lower() in ("1", "true", "yes", "on")
    if all_ranks:
        return None
    for name in RANKS:
        rank = environment.get(name, "").strip()
        if rank:
            return None if rank == "0" else f"{name} is {rank}"
    return None


def _number(text: str | None, default: float) -> float:
    try:
        number = float(text) if text else default
    except ValueError:
        return default
    return number if 0 <= number < float("inf") else default
