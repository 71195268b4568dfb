"""What every form of the pages goes through: it comes from a page of this registry, and leads to one."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import request

from registry.api.context import parts
from registry.errors import Forbidden
from registry.pages.links import local_path


def same_origin() -> None:
    """Refuse a form that another site sent: browsers say where a POST comes from."""
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    own = {request.host, urlsplit(parts().settings.url).netloc}
    known = origin is not None and origin.partition("://")[2] in own
    if not (known if site is None else site == "same-origin"):
        raise Forbidden("This form was not sent from a page of this registry. Open the page again and repeat it.")


def own_path(path: str) -> str:
    """A path on this server, whatever was asked for: nobody is sent elsewhere from here."""
    return path if local_path(path) else "/"
