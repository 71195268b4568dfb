"""The application for a WSGI server: `gunicorn registry.wsgi:application`. Settings come from the environment."""

from registry import create_app
from registry.garbage import collect_rarely
from registry.logs import configure_logs
from registry.settings import Settings

_settings = Settings.from_environment()
configure_logs(_settings.log_level)
application = create_app(_settings)
collect_rarely()
