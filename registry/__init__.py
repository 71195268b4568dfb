"""The results registry: grids in, statistics with their uncertainty out. `create_app` joins the parts."""

from __future__ import annotations

import gc
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from registry.settings import Settings


def create_app(settings: Settings) -> Flask:
    """The web application: one pool of connections, one doorbell, every resource."""
    from flask import Flask

    from registry import api
    from registry.api.context import Parts
    from registry.api.traffic import watch
    from registry.database import Database
    from registry.jobs import Doorbell

    app = Flask("registry", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body
    app.url_map.strict_slashes = False
    waiters = threading.BoundedSemaphore(max(1, settings.web_threads // 2))
    app.extensions["registry"] = Parts(settings, Database(settings, name="web"), Doorbell(settings), waiters)
    api.register(app)
    watch(app)
    # A body of many numbers makes many objects and no cycles: looking for cycles cost a sixth of a batch.
    gc.freeze()
    gc.set_threshold(100_000, 20, 50)
    return app
