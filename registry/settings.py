"""Settings, read once from the environment into a frozen value. Each has a laptop default.

A setting `redis_url` is read from `REGISTRY_REDIS_URL`. A wrong value stops the process with one sentence.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from registry.destinations import Allowed, read_allowed
from registry.errors import Misconfigured
from registry.server_urls import check_broker_url, with_servers_in_one_form
from results_registry.local_instance import DEFAULT_HOME

MEBIBYTE = 1024 * 1024
_ORIGIN = re.compile(r"\*|https?://(?:\*\.)?[A-Za-z0-9.-]+(?::[0-9]+)?")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
CHOICES = {"pooler": ("", "session", "transaction"), "synchronous_commit": ("on", "remote_apply")}
"""Settings that are one of a few words, and these."""
MOST_LAG = 60.0
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROXY_SECRET_HEADER = "X-Registry-Proxy-Secret"  # noqa: S105 (the name of a header)
WEB_ROLE = "registry_web"
"""Role of the web process in the database of `registry up`."""


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str = "postgresql+psycopg2://127.0.0.1/registry"
    web_password: str = ""
    """For `registry migrate --grant-web-role`: the password of the role with which the web process logs in."""
    pooler: str = ""
    """Pool mode of a connection pooler in front of PostgreSQL, `session` or `transaction`; empty: there is none."""
    replica_url: str = ""
    """A streaming replica from which web processes read; empty: there is none."""
    replica_lag: float = 5.0
    """Seconds that the replica may be behind; beyond them everything is read from the primary."""
    synchronous_commit: str = "on"
    """When a commit is answered: `on`, or `remote_apply`, once synchronous standbys show it to their readers."""
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
    embed_origins: str = ""
    """Sites that may show pages of /embed/ in a frame, such as https://wiki.example.org, separated by commas; * is any;
    empty: the registry's own."""

    proxy_user_header: str = ""
    """Header in which an own proxy names the user whom it has signed in; empty: none does."""
    proxy_groups_header: str = ""
    """Header in which it names the groups of that user, separated by commas."""
    proxy_addresses: str = ""
    """Addresses and networks of that proxy, separated by commas; from elsewhere the headers mean nothing."""
    proxy_secret: str = ""
    """Secret that the proxy sends in X-Registry-Proxy-Secret, besides the addresses or instead of them."""
    proxy_sign_out: str = ""
    """Path or URL at which the proxy signs its users out."""
    oidc_issuer: str = ""
    """Address of an OpenID provider; empty: none."""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_scopes: str = "openid email profile"
    oidc_user_claim: str = "email"
    """Claim by which members are known; an `email` counts only when the provider says that it is verified."""
    oidc_groups_claim: str = "groups"
    session_hours: float = 12.0
    """Hours after which a user of the OpenID provider signs in again, and the registry learns their groups anew."""

    home: Path = Path(DEFAULT_HOME)
    pg_bin: str = ""
    """A directory with PostgreSQL's programs; empty: the installed wheel, else Debian's."""

    web_threads: int = 8
    worker_processes: int = 2
    log_level: str = "INFO"
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""
    traces: str = ""
    """URL of an OpenTelemetry collector, to which spans go by OTLP over HTTP; empty: no traces."""

    request_timeout: float = 9.0
    """Seconds after which a request stops waiting for the database; `Prefer: wait` extends them."""
    pool_size: int = 6
    pool_timeout: float = 2.0
    statement_timeout: float = 5.0
    worker_statement_timeout: float = 20.0
    slow_statement: float = 1.0
    """Seconds after which a statement is named in the log; 0: none is."""
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
    max_description: int = 8_000
    max_outcomes: int = 5_000_000
    """Outcomes of items in one request."""
    max_wait: int = 30
    max_page: int = 1_000
    max_streams: int = 200
    """Streams of events that are open at once in one web process; one caller has half of them at most."""

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
    event_days: int = 30
    """Days for which the feed of a project keeps an event."""
    max_events: int = 10_000_000
    """Events that the feed of a project keeps at most; the oldest are deleted first."""
    question_days: int = 30
    """Days after which an unread cached result is deleted, unless it is a default one."""
    max_questions: int = 1_000
    """Cached results of a project that are kept besides the default ones; the least recently read are deleted first."""
    max_open_questions: int = 50
    """Pending queries of a project besides the default ones; one more is refused with 429."""
    token_days: int = 90

    webhook_allow: str = ""
    """Inner networks and host names to which webhooks may send, separated by commas: 10.0.0.0/8,hooks.lab."""
    webhook_schemes: str = "https"
    """Schemes that the URL of a webhook may have: https, or https,http."""
    max_webhooks: int = 20
    """Webhooks of a project."""
    delivery_days: int = 14
    """Days for which settled deliveries of webhooks are listed."""

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
        if given.get("traces") and not given["traces"].startswith(("http://", "https://")):
            raise Misconfigured(
                f"REGISTRY_TRACES is a URL such as http://127.0.0.1:4318/v1/traces, not {given['traces']!r}."
            )
        for origin in given.get("embed_origins", "").replace(",", " ").split():
            if not _ORIGIN.fullmatch(origin):
                raise Misconfigured(
                    f"REGISTRY_EMBED_ORIGINS has {origin!r}; https://wiki.example.org is one, * is any."
                )
        for name, allowed in CHOICES.items():
            if given.get(name, allowed[0]) not in allowed:
                raise Misconfigured(f"REGISTRY_{name.upper()} must be {' or '.join(filter(None, allowed))}.")
        settings = cls(**given)
        for url in filter(None, (settings.database_url, settings.replica_url)):
            driver_url(url)
        check_broker_url(settings.redis_url)
        if settings.replica_lag > MOST_LAG:
            raise Misconfigured(
                f"REGISTRY_REPLICA_LAG must be at most {MOST_LAG:.0f} s: clients keep positions so long."
            )
        networks_of(settings.proxy_addresses)
        _check_webhooks(given)
        _check_issuer(given.get("oidc_issuer", ""))
        return settings

    @property
    def url(self) -> str:
        """Address of the service for its users, without a slash at the end."""
        return (self.public_url or f"http://{self.host}:{self.port}").rstrip("/")

    @property
    def destinations(self) -> Allowed:
        """Where webhooks may send besides the public internet."""
        return read_allowed(self.webhook_allow, self.webhook_schemes)

    @property
    def trusts_proxy(self) -> bool:
        """Whether a request can be told to come from the proxy that signs users in."""
        return bool(self.proxy_user_header and (self.proxy_addresses or self.proxy_secret))

    @property
    def has_oidc(self) -> bool:
        return bool(self.oidc_issuer and self.oidc_client_id)

    def session_parameters(self, statement_timeout: float | None = None) -> dict[str, str]:
        """PostgreSQL's parameters in every session of the registry, with the statement timeout of a request unless
        another is given (seconds)."""
        longest = self.statement_timeout if statement_timeout is None else statement_timeout
        limits = {
            "statement_timeout": longest,
            "lock_timeout": self.lock_timeout,
            "idle_in_transaction_session_timeout": self.idle_timeout,
        }
        return {name: f"{int(1000 * seconds)}ms" for name, seconds in limits.items()} | {
            "synchronous_commit": self.synchronous_commit,
            "TimeZone": "UTC",
        }

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


def networks_of(addresses: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Networks in REGISTRY_PROXY_ADDRESSES; `Misconfigured` for what is neither an address nor a network."""
    found = []
    for one in filter(None, map(str.strip, addresses.split(","))):
        try:
            found.append(ip_network(one))
        except ValueError:
            raise Misconfigured(
                f"REGISTRY_PROXY_ADDRESSES names {one!r}, which is no address and no network."
            ) from None
    return tuple(found)


def _check_issuer(issuer: str) -> None:
    """Refuse an OpenID provider that is reached in the open; on this machine it may be."""
    parts = urlsplit(issuer)
    if issuer and parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise Misconfigured(f"REGISTRY_OIDC_ISSUER must begin with https://, but is {issuer!r}.")


def _check_webhooks(given: Mapping[str, str]) -> None:
    """Refuse networks, names and schemes that cannot be meant."""
    try:
        read_allowed(given.get("webhook_allow", ""), "https")
    except ValueError as error:
        raise Misconfigured(f"REGISTRY_WEBHOOK_ALLOW: {error}.") from None
    try:
        read_allowed("", given.get("webhook_schemes", "https"))
    except ValueError as error:
        raise Misconfigured(f"REGISTRY_WEBHOOK_SCHEMES: {error}.") from None


def driver_url(url: str) -> str:
    """URL with the installed driver, which plain `postgresql://` and `postgres://` mean here; several servers may be
    named in any form."""
    return f"postgresql+psycopg2://{with_servers_in_one_form(url)}"


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
