"""Settings, read once from the environment into a frozen value. Each has a laptop default.

A setting `redis_url` is read from `REGISTRY_REDIS_URL`. A wrong value stops the process with one sentence.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from registry.destinations import Allowed, read_allowed
from registry.errors import Misconfigured
from registry.server_urls import check_broker_url, has_port, with_servers_in_one_form
from results_registry.config import DEFAULT_HOME

MEBIBYTE = 1024 * 1024
_ORIGIN = re.compile(r"\*|https?://(?:\*\.)?[A-Za-z0-9.-]+(?::[0-9]+)?")
LOG_LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
CHOICES = {"pooler": ("", "session", "transaction"), "synchronous_commit": ("on", "remote_apply")}
"""Settings that are one of a few words, and these."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
PROXY_SECRET_HEADER = "X-Registry-Proxy-Secret"  # noqa: S105 (the name of a header)
WEB_ROLE = "registry_web"
"""Role of the web process in the database of `registry up`."""

_HOST = re.compile(r"[A-Za-z0-9_.:\[\]-]+")
_HEADER = re.compile(r"[A-Za-z0-9-]*")
OF_OTHERS = re.compile(
    "REGISTRY_(?:(?:CLIENT|TEST|BI)_.*|URL|TOKEN|PROJECT|SPOOL|SPOOL_BYTES|COALESCE_SECONDS|EXIT_SECONDS|COMMIT|ALL_RANKS|COMPLETE"
    # What Kubernetes tells of a service with the name `registry`.
    r"|SERVICE_.*|PORT_\d.*)"
)
"""Names that other programs of ours read: jobs, the command line, tests, the image."""


def within(least: float, most: float, default: float, unit: str = "") -> Any:
    """A number with the range in which it works."""
    return field(default=default, metadata={"least": least, "most": most, "unit": unit})


def range_of(name: str) -> str:
    """The range of a setting, as sentences and the manual have it; empty for what is no number."""
    known = _FIELDS[name].metadata
    if not known:
        return ""
    return f"{known['least']:,} to {known['most']:,} {known['unit']}".rstrip()


@dataclass(frozen=True, slots=True)
class Settings:
    database_url: str = "postgresql+psycopg2://127.0.0.1/registry"
    web_password: str = ""
    """For `registry migrate --grant-web-role`: the password of the role with which the web process logs in."""
    pooler: str = ""
    """Pool mode of a connection pooler in front of PostgreSQL, `session` or `transaction`; empty: there is none."""
    replica_url: str = ""
    """A streaming replica from which web processes read; empty: there is none."""
    replica_lag: float = within(0, 60, 5.0, "s")
    """Seconds that the replica may be behind; beyond them everything is read from the primary."""
    synchronous_commit: str = "on"
    """When a commit is answered: `on`, or `remote_apply`, once synchronous standbys show it to their readers."""
    redis_url: str = "redis://127.0.0.1:6379/0"
    host: str = "127.0.0.1"
    port: int = within(1, 65_535, 8080)
    public_url: str = ""
    """Address of the service for its users, in printed commands; empty: http://host:port."""
    hosts: str = ""
    """Further host names that the service answers to, separated by commas; * is any."""
    proxies: int = within(0, 10, 0)
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
    session_hours: float = within(0.1, 8_760, 12.0)
    """Hours after which a user of the OpenID provider signs in again, and the registry learns their groups anew."""

    home: Path = Path(DEFAULT_HOME)
    pg_bin: str = ""
    """A directory with PostgreSQL's programs; empty: the installed wheel, else Debian's."""

    web_threads: int = within(1, 500, 8)
    worker_processes: int = within(1, 500, 2)
    log_level: str = "INFO"
    """DEBUG, INFO, WARNING, ERROR or CRITICAL."""

    request_timeout: float = within(0.1, 600, 9.0, "s")
    """Seconds after which a request stops waiting for the database; `Prefer: wait` extends them."""
    pool_size: int = within(1, 500, 6)
    pool_timeout: float = within(0, 600, 2.0, "s")
    statement_timeout: float = within(0.01, 600, 5.0, "s")
    worker_statement_timeout: float = within(0.01, 86_400, 20.0, "s")
    slow_statement: float = within(0, 3_600, 1.0, "s")
    """Seconds after which a statement is named in the log; 0: none is."""
    lock_timeout: float = within(0.01, 600, 2.0, "s")
    idle_timeout: float = within(0.01, 3_600, 15.0, "s")

    max_cells: int = within(1, 100_000_000, 1_000_000)
    max_levels: int = within(1, 1_000_000, 10_000)
    max_body: int = within(1_000, 1_073_741_824, 16 * MEBIBYTE, "bytes")
    max_inflated: int = within(1_000, 4_294_967_296, 64 * MEBIBYTE, "bytes")
    max_batch: int = within(1, 100_000, 1_000)
    max_labels: int = within(0, 10_000, 64)
    max_label_length: int = within(1, 10_000, 256)
    max_name: int = within(1, 1_000, 200)
    max_description: int = within(0, 1_000_000, 8_000)
    max_outcomes: int = within(1, 100_000_000, 5_000_000)
    """Outcomes of items in one request."""
    max_wait: int = within(0, 300, 30, "s")
    max_page: int = within(1, 100_000, 1_000)
    max_streams: int = within(0, 5_000, 200)
    """Streams of events that are open at once in one web process; one caller has half of them at most."""

    token_rate: float = within(0, 1_000_000, 1_000.0)
    """Sustained requests per second of one token, in one web process; 0 is no limit, here and below."""
    token_burst: float = within(0, 1_000_000, 5_000.0)
    address_rate: float = within(0, 1_000_000, 200.0)
    """Requests per second of one address without a valid token."""
    address_burst: float = within(0, 1_000_000, 2_000.0)
    failure_rate: float = within(0, 1_000_000, 5.0)
    """Invalid tokens per second from one address."""
    failure_burst: float = within(0, 1_000_000, 300.0)
    question_rate: float = within(0, 1_000_000, 0.05)
    """Questions a second that nobody asked before, by one address without a token."""
    question_burst: float = within(0, 1_000_000, 200.0)

    exports: str = ""
    """Directory of exports that clients read in ranges; empty: one of this user in the system's temporary directory."""
    exports_size: int = within(0, 1_099_511_627_776, 512 * MEBIBYTE, "bytes")
    """Bytes of exports that are kept; the least recently read are deleted first."""
    max_range_cells: int = within(0, 1_000_000_000, 2_000_000)
    """An export of more cells is streamed as a whole instead of being written to a file first."""

    idempotency_days: int = within(1, 3_650, 7)
    event_days: int = within(1, 36_500, 30)
    """Days for which the feed of a project keeps an event."""
    max_events: int = within(1, 10_000_000_000, 10_000_000)
    """Events that the feed of a project keeps at most; the oldest are deleted first."""
    question_days: int = within(1, 3_650, 30)
    """Days after which an unread cached result is deleted, unless it is a default one."""
    max_questions: int = within(0, 1_000_000, 1_000)
    """Cached results of a project that are kept besides the default ones; the least recently read are deleted first."""
    max_open_questions: int = within(1, 100_000, 50)
    """Pending queries of a project besides the default ones; one more is refused with 429."""
    token_days: int = within(1, 36_500, 90)

    webhook_allow: str = ""
    """Inner networks and host names to which webhooks may send, separated by commas: 10.0.0.0/8,hooks.lab."""
    webhook_schemes: str = "https"
    """Schemes that the URL of a webhook may have: https, or https,http."""
    max_webhooks: int = within(0, 1_000, 20)
    """Webhooks of a project."""
    delivery_days: int = within(1, 3_650, 14)
    """Days for which settled deliveries of webhooks are listed."""

    lease_seconds: float = within(1, 3_600, 15.0, "s")
    attempts: int = within(1, 100, 5)
    batch_promises: int = within(1, 10_000, 100)
    batch_cells: int = within(1, 1_000_000_000, 50_000)
    dispatch_seconds: float = within(0.01, 60, 0.25, "s")
    """Seconds between two looks of the dispatcher without a wake-up."""
    unanswered_seconds: float = within(0, 3_600, 3.0, "s")
    """Seconds that a due job may wait before the dispatcher starts the inline worker."""
    ranking_debounce: float = within(0, 3_600, 0.25, "s")
    ranking_work: int = within(0, 1_000_000_000_000, 8_000_000)
    """Models times cells, plus a hundred for each pair of models. A ranking with more tests its pairs by the normal
    limit of the exact test."""
    ranking_cells: int = within(0, 1_000_000_000, 6_000_000)
    """Cells up to which such a ranking may be computed from all of them at once; of more, from pair sums."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> "Settings":
        """Read `REGISTRY_…`; raise `Misconfigured` naming a variable with an unusable value."""
        environment = os.environ if environment is None else environment
        given: dict[str, Any] = {}
        for one in fields(cls):
            variable = f"REGISTRY_{one.name.upper()}"
            if variable in environment:
                given[one.name] = _read(variable, environment[variable], one)
        if given.get("log_level", "INFO") not in LOG_LEVELS:
            raise Misconfigured(f"REGISTRY_LOG_LEVEL must be one of {', '.join(LOG_LEVELS)}.")
        _check_addresses(given)
        for name, allowed in CHOICES.items():
            if given.get(name, allowed[0]) not in allowed:
                raise Misconfigured(f"REGISTRY_{name.upper()} must be {' or '.join(filter(None, allowed))}.")
        settings = cls(**given)
        driver_url(settings.database_url)
        if settings.replica_url:
            try:
                driver_url(settings.replica_url)
            except Misconfigured as error:
                raise Misconfigured(str(error).replace("DATABASE_URL", "REPLICA_URL")) from None
        for name in ("exports", "pg_bin", "home"):
            if (path := Path(str(getattr(settings, name)))) != Path() and path.exists() and not path.is_dir():
                raise Misconfigured(f"REGISTRY_{name.upper()} is {str(path)!r}, which is no directory.")
        check_broker_url(settings.redis_url)
        if settings.statement_timeout > settings.request_timeout:
            raise Misconfigured(
                f"REGISTRY_STATEMENT_TIMEOUT is {settings.statement_timeout:g} s, but must be at most"
                f" {settings.request_timeout:g} s, the time of a request (REGISTRY_REQUEST_TIMEOUT)."
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


_FIELDS = {one.name: one for one in fields(Settings)}


def _read(variable: str, text: str, one: Any) -> object:
    kind = type(one.default)
    if kind not in (int, float):
        try:
            return text if kind is str else Path(text).expanduser()
        except RuntimeError:
            raise Misconfigured(f"{variable} is {text!r}, but this user has no home directory.") from None
    try:
        number = kind(text)
    except ValueError:
        whole = "whole number" if kind is int else "number"
        raise Misconfigured(f"{variable} must be a {whole}, {range_of(one.name)}, not {text!r}.") from None
    if not one.metadata["least"] <= number <= one.metadata["most"]:
        raise Misconfigured(f"{variable} is {text}, but must be {range_of(one.name)}.")
    return number


def refuse_unknown(environment: Mapping[str, str] | None = None) -> None:
    """Raise `Misconfigured` for a variable `REGISTRY_…` that nothing reads: somebody believes that it is in force."""
    known = [f"REGISTRY_{name.upper()}" for name in _FIELDS]
    for variable in sorted(os.environ if environment is None else environment):
        if variable.startswith("REGISTRY_") and variable not in known and not OF_OTHERS.fullmatch(variable):
            near = get_close_matches(variable, known, 1)
            meant = f"{near[0]} is the nearest that is" if near else "docs/operating.md has all that are"
            raise Misconfigured(f"{variable} is no setting; {meant}.")


def _is_address(url: str) -> bool:
    """Whether this is a URL of the web with a host, and a port that can be one if it names one."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(_HOST.fullmatch(parts.hostname or "")) and has_port(parts)
    except ValueError:
        return False


def _check_addresses(given: Mapping[str, Any]) -> None:
    for name in ("cors_origins", "embed_origins"):
        for origin in given.get(name, "").replace(",", " ").split():
            if not _ORIGIN.fullmatch(origin):
                example = "https://wiki.example.org is one, * is any"
                raise Misconfigured(f"REGISTRY_{name.upper()} has {origin!r}; {example}.")
    for host in [given.get("host", "127.0.0.1"), *given.get("hosts", "").replace(",", " ").split()]:
        if not _HOST.fullmatch(host) and host != "*":
            name = "HOST" if host == given.get("host") else "HOSTS"
            raise Misconfigured(f"REGISTRY_{name} has {host!r}, which is no host name; results.example.org is one.")
    if (url := given.get("public_url", "")) and not (_is_address(url) and not set(url) & set("?#@")):
        raise Misconfigured(f"REGISTRY_PUBLIC_URL is a URL such as https://results.example.org, not {url!r}.")
    for name in ("proxy_user_header", "proxy_groups_header"):
        if not _HEADER.fullmatch(given.get(name, "")):
            raise Misconfigured(
                f"REGISTRY_{name.upper()} is {given[name]!r}, but X-Auth-Request-Email is the name of a header."
            )
    if not re.match(r"$|/(?!/)|https?://", given.get("proxy_sign_out", "")):
        raise Misconfigured(
            f"REGISTRY_PROXY_SIGN_OUT is a path or a URL, such as /oauth2/sign_out, not {given['proxy_sign_out']!r}."
        )


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
    if issuer and not _is_address(issuer):
        raise Misconfigured(f"REGISTRY_OIDC_ISSUER is a URL such as https://id.example.org, not {issuer!r}.")
    parts = urlsplit(issuer)
    if issuer and parts.scheme != "https" and not (parts.scheme == "http" and parts.hostname in LOOPBACK):
        raise Misconfigured(f"REGISTRY_OIDC_ISSUER must begin with https://, but is {issuer!r}.")


def _check_webhooks(given: Mapping[str, str]) -> None:
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
