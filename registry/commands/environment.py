"""Settings of commands that run parts of the service."""

from __future__ import annotations

from registry.logs import configure_logs
from registry.settings import Settings, refuse_unknown


def settings_of_environment(*, of_process: bool = False) -> Settings:
    """Settings of the environment; configures the logs as they say. A process of the service does not begin beside a
    variable that nothing reads."""
    if of_process:
        refuse_unknown()
    settings = Settings.from_environment()
    configure_logs(settings.log_level)
    return settings
