"""The application with one more route, which answers a constant: what the web stack itself costs."""

from flask import Response

from registry import create_app
from registry.logs import configure_logs
from registry.settings import Settings

settings = Settings.from_environment()
configure_logs(settings.log_level)
application = create_app(settings)
CONSTANT = b'{"answer": 42}'


@application.get("/constant")
def constant() -> Response:
    return Response(CONSTANT, content_type="application/json")
