"""Check and take apart addresses and tokens before anything is sent, and say how long to pause between attempts."""

import random
import urllib.parse
from typing import NamedTuple

from results_registry.errors import BadAddress

_LONGEST_TOKEN = 512
_FIRST_PAUSE, _LONGEST_PAUSE = 0.25, 30.0


class Origin(NamedTuple):
    """Scheme, host and port: what a token may be sent to."""

    scheme: str
    host: str
    port: int

    @property
    def authority(self) -> str:
        """host[:port] as it stands in a URL and in the header `Host`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}"


_PORTS = {"http": 80, "https": 443}


def split_url(url: str) -> tuple[Origin, str]:
    """The origin of a URL and its path without a slash at the end; raises `BadAddress`."""
    try:
        parts = urllib.parse.urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise BadAddress(f"The registry's URL cannot be read: {error}.") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS or not parts.hostname:
        raise BadAddress(f"The registry's URL must be like https://registry.example.org, not {url!r}.")
    if parts.username is not None or parts.password is not None:
        raise BadAddress("The registry's URL must hold no password; give the token as REGISTRY_TOKEN.")
    return Origin(scheme, parts.hostname, port or _PORTS[scheme]), parts.path.rstrip("/")


def segment(name: str) -> str:
    """A name as one segment of a path."""
    return urllib.parse.quote(name, safe="")


def clean_token(token: str) -> str:
    """The token without blanks around it; raises `BadAddress`, which does not show it, when it cannot be one."""
    token = token.strip()
    if not 1 <= len(token) <= _LONGEST_TOKEN or not all("!" <= character <= "~" for character in token):
        raise BadAddress("The token holds characters that no token has.")
    return token


def same_origin(one: str, other: str) -> bool:
    """Tell whether a token for one URL may be sent to the other."""
    return split_url(one)[0] == split_url(other)[0]


def backoff(attempt: int, asked: float = 0.0) -> float:
    """Seconds until the next attempt: doubling with jitter, and never sooner than the server asked for."""
    mine = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** min(attempt - 1, 16))
    spread = random.uniform(0.5, 1.0)  # noqa: S311 (so that clients do not come back together)
    return mine * spread if mine > asked else asked + spread * max(0.2, asked / 10)
