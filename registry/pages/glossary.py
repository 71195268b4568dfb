"""The words of the statistics, as the API's reference defines them."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files


@cache
def glossary() -> dict[str, str]:
    """Term to definition, in alphabetical order."""
    return tomllib.loads(files(__package__).joinpath("templates/glossary.toml").read_text(encoding="utf-8"))
