"""Every setting, read once from the environment into a frozen value. Each has a laptop default.

A setting `redis_url` is read from `REGISTRY_REDIS_URL`. A wrong value stops the process with one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from registry.errors import Misconfigured

MEBIBYTE = 1024 * 1024
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str = "postgresql+psycopg2://127.0.0.1/registry"
    redis_url: str = "redis://127.0.0.1:6379/0"
    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = ""
    """How users reach the service, for printed commands; empty: http://host:port."""
    home: Path = Path("~/.local/share/results-registry")
    pg_bin: str = ""
    """A directory with PostgreSQL's programs; empty: the installed wheel, else Debian's."""

    web_threads: int = 8
    worker_processes: int = 2
    log_level: str = "INFO"
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""

    pool_size: int = 6
    pool_timeout: float = 2.0
    statement_timeout: float = 5.0
    worker_statement_timeout: float = 20.0
    lock_timeout: float = 2.0
    idle_timeout: float = 15.0

    max_cells: int = 1_000_000
    max_levels: int = 10_000
    max_body: int = 16 * MEBIBYTE
    max_inflated: int = 64 * MEBIBYTE
    max_batch: int = 1_000
    max_labels: int = 64
    max_label_length: int = 256
    max_name: int = 200
    max_wait: int = 30
    max_page: int = 1_000

    idempotency_days: int = 7
    token_days: int = 90

    lease_seconds: float = 15.0
    attempts: int = 5
    batch_promises: int = 100
    batch_cells: int = 50_000
    dispatch_seconds: float = 0.25
    """How often the dispatcher looks when nobody wakes it."""
    unanswered_seconds: float = 3.0
    """How long a due promise may wait before the dispatcher has it computed without the broker."""
    ranking_debounce: float = 0.25

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read `REGISTRY_…`; raises `Misconfigured` naming the variable whose value cannot be used."""
        environment = os.environ if environment is None else environment
        given: dict[str, Any] = {}
        for field in fields(cls):
            variable = f"REGISTRY_{field.name.upper()}"
            if variable in environment:
                given[field.name] = _read(variable, environment[variable], type(getattr(cls(), field.name)))
        if given.get("log_level", "INFO") not in LOG_LEVELS:
            raise Misconfigured(f"REGISTRY_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}.")
        return cls(**given)

    @property
    def url(self) -> str:
        """Where users reach the service, without a slash at the end."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    def environment(self) -> dict[str, str]:
        """The variables from which a child process reads these same settings."""
        return {f"REGISTRY_{field.name.upper()}": str(getattr(self, field.name)) for field in fields(self)}


def _read(variable: str, text: str, kind: type) -> object:
    if kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            raise Misconfigured(f"{variable} must be a number, not {text!r}.") from None
        if number < 0:
            raise Misconfigured(f"{variable} must not be negative, but is {text}.")
        return number
    try:
        return text if kind is str else Path(text).expanduser()
    except RuntimeError:
        raise Misconfigured(f"{variable} is {text!r}, but this user has no home directory.") from None


def driver_url(url: str) -> str:
    """The URL with the driver that is installed: plain `postgresql://` and `postgres://` mean psycopg2 here."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in ("postgresql", "postgres"):
        raise Misconfigured(f"REGISTRY_DATABASE_URL must begin with postgresql://, not {scheme!r}.")
    return f"postgresql+psycopg2://{rest}"


def inherited_environment() -> dict[str, str]:
    """This process's environment, for its child processes."""
    return dict(os.environ)


def given_variables() -> set[str]:
    """The names of the settings that the environment gives."""
    return {field.name for field in fields(Settings) if f"REGISTRY_{field.name.upper()}" in os.environ}
