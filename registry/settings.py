"""Settings, read once from the environment into a frozen value. Each has a laptop default.

A setting `redis_url` is read from `REGISTRY_REDIS_URL`. A wrong value stops the process with one sentence.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from registry.errors import Misconfigured
from results_registry.local_instance import DEFAULT_HOME

MEBIBYTE = 1024 * 1024
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
WEB_ROLE = "registry_web"
"""Role of the web process in the database of `registry up`."""


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str = "postgresql+psycopg2://127.0.0.1/registry"
    web_password: str = ""
    """For `registry migrate --grant-web-role`: the password of the role with which the web process logs in."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    host: str = "127.0.0.1"
    port: int = 8080
    public_url: str = ""
    """Address of the service for its users, in printed commands; empty: http://host:port."""
    hosts: str = ""
    """Further host names that the service answers to, separated by commas; * is any."""
    proxies: int = 0
    """Number of own proxies in front of the service, each of which appends to X-Forwarded-For."""
    cors_origins: str = ""
    """Origins whose pages may read responses (CORS), separated by commas."""
    home: Path = Path(DEFAULT_HOME)
    pg_bin: str = ""
    """A directory with PostgreSQL's programs; empty: the installed wheel, else Debian's."""

    web_threads: int = 8
    worker_processes: int = 2
    log_level: str = "INFO"
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""

    request_timeout: float = 9.0
    """Seconds after which a request stops waiting for the database; `Prefer: wait` extends them."""
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

    token_rate: float = 1_000.0
    """Sustained requests per second of one token, in one web process; 0 is no limit, here and below."""
    token_burst: float = 5_000.0
    address_rate: float = 200.0
    """Requests per second of one address without a valid token."""
    address_burst: float = 2_000.0
    failure_rate: float = 5.0
    """Invalid tokens per second from one address."""
    failure_burst: float = 300.0

    exports: str = ""
    """Directory of exports that clients read in ranges; empty: one of this user in the system's temporary directory."""
    exports_size: int = 512 * MEBIBYTE
    """Bytes of exports that are kept; the least recently read are deleted first."""
    max_range_cells: int = 2_000_000
    """An export of more cells is streamed as a whole instead of being written to a file first."""

    idempotency_days: int = 7
    question_days: int = 30
    """Days after which an unread cached result is deleted, unless it is a default one."""
    max_questions: int = 1_000
    """Cached results of a project that are kept besides the default ones; the least recently read are deleted first."""
    max_open_questions: int = 50
    """Pending queries of a project besides the default ones; one more is refused with 429."""
    token_days: int = 90

    lease_seconds: float = 15.0
    attempts: int = 5
    batch_promises: int = 100
    batch_cells: int = 50_000
    dispatch_seconds: float = 0.25
    """Seconds between two looks of the dispatcher without a wake-up."""
    unanswered_seconds: float = 3.0
    """Seconds that a due job may wait before the dispatcher starts the inline worker."""
    ranking_debounce: float = 0.25
    ranking_work: int = 8_000_000
    """Models times cells, plus a hundred for each pair of models. A ranking with more tests its pairs by the normal
    limit of the exact test."""
    ranking_cells: int = 2_000_000
    """Cells up to which such a ranking may be computed from all of them at once; of more, from pair sums."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read `REGISTRY_…`; raise `Misconfigured` naming a variable with an unusable value."""
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
        """Address of the service for its users, without a slash at the end."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    def environment(self) -> dict[str, str]:
        """Variables from which a child process reads these same settings."""
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
    """URL with the installed driver: plain `postgresql://` and `postgres://` mean psycopg2 here."""
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in ("postgresql", "postgres"):
        raise Misconfigured(f"REGISTRY_DATABASE_URL must begin with postgresql://, not {scheme!r}.")
    return f"postgresql+psycopg2://{rest}"


def inherited_environment() -> dict[str, str]:
    """Environment of this process, for its child processes."""
    return dict(os.environ)


def given_variables() -> set[str]:
    """Names of the settings that the environment gives."""
    return {field.name for field in fields(Settings) if f"REGISTRY_{field.name.upper()}" in os.environ}


def multiply_with_one_thread() -> None:
    """Have NumPy multiply matrices with one thread in this process and its children, unless the environment says how
    many; without effect once it is imported."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
