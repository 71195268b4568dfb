"""What commands that run parts of the service have in common: the settings of the environment."""

from __future__ import annotations

from registry.logs import configure_logs
from registry.settings import Settings


def settings_of_environment() -> Settings:
    """The settings of the environment, with the logs that they ask for."""
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    return settings
