"""Settings of commands that run parts of the service."""

from __future__ import annotations

from registry.logs import configure_logs
from registry.settings import Settings


def settings_of_environment() -> Settings:
    """Settings of the environment; configures the logs as they say."""
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    return settings
