"""The compose file as the tests read it."""

from typing import Any

import yaml

from tests import ROOT

COMPOSE = ROOT / "docker-compose.yml"


def services() -> dict[str, dict[str, Any]]:
    """Each service by its name, with what it inherits."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]
    return found
