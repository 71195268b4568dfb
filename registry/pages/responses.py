"""Pages as answers: what every template takes, how the answer that it shows stands, and where long names may break."""

import re
import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from flask import Response, g, render_template, request
from jinja2.ext import Extension

from registry.api.answers import answered, settled
from registry.api.context import parts
from registry.api.responses import not_modified, send
from registry.grids.slices import PARAMETER
from registry.operations.health import activity_of
from registry.pages.front import theme
from registry.pages.glossary import explained, explanations, repeats
from registry.pages.links import here, name_page, results_page, search_path, to, turned, without
from registry.pages.live import SETTLED_SECONDS
from registry.pages.palette import style_sheet
from registry.pages.sharing import needs_signing_in, printed_address, sharing_of
from registry.renderings.words import label, moment, said


def page(
    template: str, made_of: Iterable[object], context: Callable[[], dict[str, Any]], status: int = 200
) -> Response:
    """The page of a template; `304` without making it when the caller has what it is `made_of`."""
    seen = (version(), request.full_path, theme(), signed_in(), *made_of)
    tag = sha256("\x1f".join(map(str, seen)).encode()).hexdigest()[:20]
    if not_modified(tag):
        return send(b"", form="html", tag=tag)
    return send(
        render_template(template, **furniture() | context() | {"tag": tag}),
        form="html",
        status=status,
        tag=tag,
    )


def state_of(found: Any) -> str:
    """`unasked`, `pending`, `ready` or `failed`: how the row of an answer stands."""
    if found is None:
        return "unasked"
    if not settled(found):
        return "pending"
    return "ready" if answered(found) else "failed"


def idle() -> bool:
    """Whether nobody computes what a page waits for: no dispatcher has reported lately. Asked once a request."""
    if "idle" not in g:
        with parts().database.reading() as connection:
            g.idle = not activity_of(connection).alive("dispatcher")
    return bool(g.idle)


def tags_of(found: Any) -> list[object]:
    """Entity tags of a page with this answer."""
    if found is None:
        return []
    whole = [found.etag, found.state, found.generation, found.document_generation, found.invalidated]
    return [*whole, settled(found) or idle()]


def furniture() -> dict[str, Any]:
    """Functions and values that every template may use."""
    return {
        "asset": asset,
        "label": label,
        "moment": moment,
        "field_of": field_of,
        "said": said,
        "here": here,
        "printed": printed_address,
        "now": datetime.now(UTC),
        "results_page": results_page,
        "idle": idle,
        "explained": explained,
        "explanations": explanations,
        "repeats": repeats,
        "to": to,
        "turned": turned,
        "without": without,
        "name_page": name_page,
        "search_path": search_path,
        "searched": request.args.get("q", "") if request.path.endswith("/search") else "",
        "share": g.share if "shared" in g else "",
        "theme": theme(),
        "visitor": g.get("visitor"),
        "tabs_of": tabs_of,
        "settings_of": _settings_of,
        "project_id": None,
        "visibility": None,
        "provider": "/sign-in/provider" if parts().settings.has_oidc else "",
        "provider_name": urlsplit(parts().settings.oidc_issuer).hostname,
        "sign_in": to("/sign-in", back=here() if request.method == "GET" and request.path != "/sign-in" else None),
        "every": SETTLED_SECONDS,
        "feed": None,
        "shown": "",
        "revision": None,
        "embedded": "embedded" in g,
        "embeds": bool(parts().settings.embed_origins),
        "grid": None,
        "picture": None,
        "sharing": sharing_of,
        "cited": None,
        "needs_signing_in": needs_signing_in(),
    }


def field_of(pointer: str) -> str:
    """The field that a fault is at, as people read it."""
    name = pointer.removeprefix("/").partition("/")[0].replace("~1", "/").replace("~0", "~")
    return name.removeprefix(PARAMETER) if name.startswith(PARAMETER) else name.replace("_", " ")


_TABS = {
    "Overview": ("",),
    "Results": ("/results", "/comparisons"),
    "Claims": ("/claims",),
    "Gates": ("/alerts", "/baselines"),
    "Activity": ("/events",),
}
"""The parts of a project, by what the paths of their pages begin with: the first is where a part begins."""


def tabs_of(slug: str | None) -> list[tuple[str, str, bool]]:
    """Where the parts of a project are, their names, and which of them this page is in; without what a share does not
    open, and nothing where that leaves one."""
    home = f"/projects/{slug}"
    rest = request.path.removeprefix(home) if request.path not in ("/", home) else ""
    found = [
        (href, word, rest == "" if not starts[0] else rest.startswith(starts))
        for word, starts in _TABS.items()
        if slug and (href := to(home + starts[0]))
    ]
    return found if len(found) > 1 else []


def _settings_of(project_id: uuid.UUID | None, slug: str | None) -> str:
    """Path of the settings of a project for who may open them; "" for others. Without a project that of all of them."""
    visitor = g.get("visitor")
    if visitor is None or project_id is None:
        return "/settings" if visitor and visitor.caller.administers else ""
    return f"/projects/{slug}/settings" if visitor.caller.role_in(project_id) == "admin" else ""


def signed_in() -> tuple[str, bool] | None:
    """Who the head of the page names, and whether it leads to the settings; None for strangers."""
    visitor = g.get("visitor")
    return None if visitor is None else (visitor.name, visitor.caller.administers)


@cache
def version() -> str:
    """Changes when any template, script or style changes."""
    digest = sha256(style_sheet().encode())
    for directory in ("templates", "static"):
        for file in sorted(files(__package__).joinpath(directory).iterdir(), key=lambda one: one.name):
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def asset(name: str) -> str:
    """The path of a style sheet or script, which may be kept for ever."""
    return f"/assets/{name}?v={version()}"


class IndentedLinesContinue(Extension):
    """Takes line breaks that are followed by indentation out of every template."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"\n[ ]+", "", source)
