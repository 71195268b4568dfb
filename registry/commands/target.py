"""Registry that a command talks to: by the client's rules, with more care for files that others can write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from results_registry.config import Config, find_config, kept_token, read_toml, repository_file, user_config_path
from results_registry.errors import BadAddress

Warn = Callable[[str], None]


def find_registry(url: str | None, project: str | None, warn: Warn) -> Config:
    """Registry, token and project to use. Warns of a token in a file that others can read, and does not use it.

    Raises `BadAddress` for an unusable file.
    """
    _refuse_foreign(repository_file(Path.cwd()))
    return _without_open_token(find_config(url=url, project=project), warn)


def _without_open_token(found: Config, warn: Warn) -> Config:
    """Configuration without the token, if that comes from the user's file and others can read the file."""
    path = user_config_path()
    kept = kept_token(read_toml(path), found.url)
    if kept is None or kept != found.token or not path.stat().st_mode & 0o077:
        return found
    warn(f"Warning: the token in {path} is not used, because others can read that file; chmod 600 it.")
    return found._replace(token=None)


def _refuse_foreign(path: Path | None) -> None:
    """Refuse a file of another user in a directory above, which could redirect results and tokens."""
    if path is None:
        return
    owner = path.stat().st_uid
    if owner not in (os.geteuid(), 0, Path.cwd().stat().st_uid):
        raise BadAddress(f"{path} belongs to another user, so it is not used; remove it, or work elsewhere.")
