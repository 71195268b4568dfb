"""Find the registry, the token and the project: arguments, then environment, then files.

`.registry.toml` in this directory or one above says where a repository's results go; it is committed, so it holds no
token. The user's own file, `~/.config/results-registry/config.toml` with mode 0600, holds the tokens by URL:

    url = "https://registry.example.org"
    project = "demo"

    [tokens]
    "https://registry.example.org" = "rgs_…"

A token of that table is only ever used for the URL that it stands under.

Where nothing names a registry, the one that `registry up` runs on this machine is meant, and its administrator's token,
which only the owner of its home can read, serves for exactly its address.

Settings from a job's environment: where to spool, how long to wait at exit, which of many processes logs.

The registry that runs on this machine: `registry up` leaves its address in its home, and other commands find it.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from results_registry.errors import BadAddress
from results_registry.origin import clean_token, same_origin, split_url

if TYPE_CHECKING:
    from results_registry.http import Transport

RANKS = (
    "RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "FLUX_TASK_RANK",
    "JAX_PROCESS_ID",
)  # fmt: skip
_GIBIBYTE = 1 << 30
DEFAULT_URL = "http://127.0.0.1:8080"
_DEFAULT, _NEXT_DOOR = "the default", "the registry that runs in"
REPOSITORY_FILE = ".registry.toml"


class ClientEnvironment(NamedTuple):
    """Each from the environment: `REGISTRY_SPOOL`, `…_SPOOL_BYTES`, `…_EXIT_SECONDS`, `…_COALESCE_SECONDS`.

    A value that cannot be read is the default: a job must not fail because of it.
    """

    spool: Path
    spool_bytes: int
    exit_seconds: float
    coalesce_seconds: float


def read_environment() -> ClientEnvironment:
    return ClientEnvironment(
        spool_root(),
        int(_number(os.environ.get("REGISTRY_SPOOL_BYTES"), _GIBIBYTE)),
        _number(os.environ.get("REGISTRY_EXIT_SECONDS"), 5.0),
        _number(os.environ.get("REGISTRY_COALESCE_SECONDS"), 1.0),
    )


def spool_root() -> Path:
    """Directory in which grids wait: `REGISTRY_SPOOL`, else below the user's state directory, else below the temporary
    one."""
    if given := os.environ.get("REGISTRY_SPOOL"):
        return Path(os.path.abspath(os.path.expanduser(given)))
    state = os.environ.get("XDG_STATE_HOME") or os.path.join(os.path.expanduser("~"), ".local", "state")
    if os.path.isabs(state):
        return Path(state) / "results-registry" / "spool"
    import tempfile

    return Path(tempfile.gettempdir()) / f"results-registry-{os.getuid()}" / "spool"


def is_silent(all_ranks: bool | None) -> str | None:
    """Why this process says nothing: it is one of many and not the first. None when it speaks.

    `all_ranks`, else `REGISTRY_ALL_RANKS=1`, lets every process speak.
    """
    if all_ranks is None:
        all_ranks = os.environ.get("REGISTRY_ALL_RANKS", "").lower() in ("1", "true", "yes", "on")
    if all_ranks:
        return None
    for name in RANKS:
        rank = os.environ.get(name, "").strip()
        if rank:
            return None if rank == "0" else f"{name} is {rank}"
    return None


def _number(text: str | None, default: float) -> float:
    try:
        number = float(text) if text else default
    except ValueError:
        return default
    return number if 0 <= number < float("inf") else default


class Config(NamedTuple):
    """Destination of results. `url_from` says who chose the URL, for messages; `named` whether anybody did."""

    url: str
    token: str | None
    project: str | None
    url_from: str = _DEFAULT

    @property
    def named(self) -> bool:
        return self.url_from != _DEFAULT and not self.url_from.startswith(_NEXT_DOOR)

    def __repr__(self) -> str:
        return f"Config(url={self.url!r}, project={self.project!r}, url_from={self.url_from!r})"

    def check(self) -> None:
        """Raises `BadAddress` where `transport` would, and imports nothing for it."""
        split_url(self.url)
        if self.token is not None:
            clean_token(self.token)

    def transport(self, **options: Any) -> "Transport":
        from results_registry.http import Transport

        return Transport(self.url, self.token, **options)


def find_config(
    url: str | None = None,
    token: str | None = None,
    project: str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    directory: Path | None = None,
) -> Config:
    """The address, token and project: arguments, else `REGISTRY_URL`, `REGISTRY_TOKEN`, `REGISTRY_PROJECT`, else the
    files, else the registry that runs on this machine, else the default URL.

    Raises `BadAddress` for a file that cannot be read as TOML.
    """
    environment = os.environ if environment is None else environment
    near_path = repository_file(directory or Path.cwd())
    near = read_toml(near_path) if near_path else {}
    own_path = user_config_path(environment)
    own = read_toml(own_path)
    if near_path and "token" in near:
        raise BadAddress(f"{near_path} must hold no token: it is committed. Use REGISTRY_TOKEN or `registry login`.")
    home = home_of(environment)
    address = address_in(home)
    choices = [
        (url, "the argument"),
        (environment.get("REGISTRY_URL"), "REGISTRY_URL"),
        (near.get("url"), str(near_path)),
        (own.get("url"), str(own_path)),
        (address, f"{_NEXT_DOOR} {home}"),
        (DEFAULT_URL, _DEFAULT),
    ]
    chosen, chosen_from = next((str(text), place) for text, place in choices if text)
    found = project or environment.get("REGISTRY_PROJECT") or near.get("project") or own.get("project")
    chosen = chosen.strip().rstrip("/")
    token = token or environment.get("REGISTRY_TOKEN") or kept_token(own, chosen)
    if token is None and chosen == address:
        token = token_in(home)
    return Config(chosen, token, None if found is None else str(found), chosen_from)


def kept_token(own: Mapping[str, Any], url: str) -> str | None:
    """The token that the user's file keeps for exactly this registry."""
    tokens = own.get("tokens")
    if not isinstance(tokens, Mapping):
        return None
    for kept, token in tokens.items():
        if kept.rstrip("/") == url.strip().rstrip("/") and same_origin(kept, url):
            return str(token)
    return None


def user_config_path(environment: Mapping[str, str] | None = None) -> Path:
    """The user's own file, whether it is there or not."""
    environment = os.environ if environment is None else environment
    root = environment.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return Path(root) / "results-registry" / "config.toml"


def repository_file(directory: Path) -> Path | None:
    """The nearest `.registry.toml`, in this directory or one above it."""
    places = (place / REPOSITORY_FILE for place in (directory, *directory.parents))
    return next((path for path in places if path.is_file()), None)


def read_toml(path: Path) -> dict[str, Any]:
    """The content of a file, nothing if it is not there."""
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return {}
    import tomllib

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadAddress(f"{path} is no TOML: {error}.") from None


DEFAULT_HOME = "~/.local/share/results-registry"
_ADDRESS_FILE = "address"
TOKEN_FILE = "admin-token"  # noqa: S105 (a file's name)


@contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """The address stands in the home, with the number of this process, until the block ends."""
    path = home / _ADDRESS_FILE
    fresh = path.with_suffix(".new")
    fresh.write_text(f"{url}\n{os.getpid()}\n", encoding="utf-8")
    fresh.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def home_of(environment: Mapping[str, str]) -> Path:
    """The home that commands of this environment mean: `REGISTRY_HOME`, else the default."""
    return Path(os.path.expanduser(environment.get("REGISTRY_HOME") or DEFAULT_HOME))


def address_in(home: Path) -> str | None:
    """Address at which the registry of this home listens, None when none runs; what a killed one left behind counts as
    none."""
    try:
        url, process = (home / _ADDRESS_FILE).read_text(encoding="utf-8").split()
        os.kill(int(process), 0)
    except (OSError, ValueError):
        return None
    return url


def token_in(home: Path) -> str | None:
    """The administrator's token of this home, if this user may read it and nobody else may."""
    path = home / TOKEN_FILE
    try:
        return path.read_text(encoding="utf-8").strip() if not path.stat().st_mode & 0o077 else None
    except OSError:
        return None
