"""URLs of PostgreSQL and Redis in the forms that SQLAlchemy, libpq and redis-py read."""

import re
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from psycopg2 import ProgrammingError
from psycopg2.extensions import make_dsn

from registry.errors import Misconfigured

_SERVER = re.compile(r"(?P<host>\[[0-9A-Fa-f:.%]+\]|[^\[\]:/]*)(?::(?P<port>[0-9]{1,5})?)?")
_UNREADABLE = (
    "REGISTRY_DATABASE_URL cannot be read: postgresql://user:password@host:5432/database is one. In a password / @ : #"
    " ? and % are written %2F %40 %3A %23 %3F %25."
)
_UNREADABLE_BROKER = (
    "REGISTRY_REDIS_URL cannot be read: redis://user:password@host:6379/0 is one, whose last part is the number of a"
    " database. In a password / @ : # ? and % are written %2F %40 %3A %23 %3F %25."
)
_WORDS = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "target_session_attrs": ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
}
"""What libpq refuses only when it connects, where it looks as if the server were away."""
_NUMBERED = ("redis", "rediss")
_NUMBER = re.compile(r"/?[0-9]*/?")
_LAST_PORT = 65_535
BROKER_SCHEMES = ("redis", "rediss", "unix", "redis+socket")


def with_servers_in_one_form(url: str) -> str:
    """What follows `://` in a URL of PostgreSQL; `Misconfigured` for another URL.

    Several servers may be named as libpq has it, `a:5432,b:5432`, or by repeating `host=a:5432`; the result has them in
    the one form that both SQLAlchemy and libpq read, `?host=a,b&port=5432,5432`.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in ("postgresql", "postgres"):
        raise Misconfigured(f"REGISTRY_DATABASE_URL must begin with postgresql://, not {scheme[:20]!r}.")
    try:
        parts = urlsplit(f"//{rest}")
    except ValueError:
        raise Misconfigured(_UNREADABLE) from None
    login, at, address = parts.netloc.rpartition("@")
    given = parse_qsl(parts.query, keep_blank_values=True)
    repeated = [value for name, value in given if name == "host"]
    servers = [_SERVER.fullmatch(one) for one in (address.split(",") if address else repeated)]
    if (address and None in servers) or any(int(one["port"] or 0) > _LAST_PORT for one in servers if one):
        raise Misconfigured(_UNREADABLE)
    for name, value in given:
        if (words := _WORDS.get(name)) and value not in words:
            raise Misconfigured(f"REGISTRY_DATABASE_URL has {name}={value[:40]}; it is one of {', '.join(words)}.")
        try:
            make_dsn(**{name: ""})
        except ProgrammingError:
            raise Misconfigured(f"REGISTRY_DATABASE_URL has {name[:40]!r}, which libpq does not know.") from None
    if None in servers or (len(servers) < 2 and (address or not any(one and one["port"] for one in servers))):
        return rest
    several = {"host": ",".join(one["host"].strip("[]") for one in servers if one)}
    several["port"] = ",".join(one["port"] or "5432" for one in servers if one)
    others = [(name, value) for name, value in given if name not in several]
    path = parts.path or "/"
    return f"{login}{at}{path}?{urlencode([*several.items(), *others], safe=',:/')}"


def has_port(url: SplitResult) -> bool:
    """Return whether the port of a URL, if it names one, can be one."""
    try:
        return url.port != 0
    except ValueError:
        return False


def check_broker_url(url: str) -> None:
    """Refuse a broker that is not a single Redis server, and a port or a number of a database that cannot be one."""
    scheme = url.partition("://")[0]
    if scheme not in BROKER_SCHEMES:
        sentinel = " A server that Sentinel may replace needs one name that follows it." if "sentinel" in scheme else ""
        raise Misconfigured(
            f"REGISTRY_REDIS_URL must begin with redis://, rediss:// or unix://, not {scheme[:20]!r}.{sentinel}"
        )
    try:
        parts = urlsplit(url)
        readable = has_port(parts) and (scheme not in _NUMBERED or bool(_NUMBER.fullmatch(parts.path)))
    except ValueError:
        readable = False
    if not readable:
        raise Misconfigured(_UNREADABLE_BROKER)
