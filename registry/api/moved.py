"""Addresses of the release before: each leads, in this release alone, to where its question is answered now."""

from typing import Any
from urllib.parse import quote

from flask import Blueprint, Response, request

from registry.api.arguments import OLD_SINCE
from registry.api.smorest import API_PREFIX

_GRID, _PROJECT = "grids/<uuid:grid>", "projects/<project>"
_NUMBER = "int(min=1,max=2147483647)"
_TABLES, _FEEDS = "json,txt,md,csv", "csv,ndjson,json,parquet,arrow"
_PARTS = "changes,coverage,peaks,precision,sensitivity,thresholds,trends"
MOVED: tuple[tuple[str, str, str], ...] = (
    (f"{_GRID}/<any({_PARTS}):part>", _TABLES, "grids/{grid}/statistics{form}?part={part}"),
    (f"{_PROJECT}/<any(coverage,peaks,trends):part>", _FEEDS, "projects/{project}/statistics{form}?part={part}"),
    (
        f"{_PROJECT}/<any(axes,benchmarks,experiments,metrics,models,variants):kind>",
        "",
        "projects/{project}/names/{kind}",
    ),
    (f"{_GRID}/revisions/<{_NUMBER}:revision>", "", "grids/{grid}?revision={revision}"),
    (f"{_GRID}/revisions/<{_NUMBER}:a>..<{_NUMBER}:b>", "", "grids/{grid}/difference?from={a}&to={b}"),
    (f"{_PROJECT}/claims/judge", "", "projects/{project}/claims?dry_run=true"),
    (f"{_GRID}.csv", "", "grids/{grid}/cells.csv"),
    (f"{_GRID}/cells.<any(md,txt):form>", "", "grids/{grid}{form}"),
    (f"{_GRID}/report", "md,txt", "grids/{grid}/statistics{form}"),
    (f"{_GRID}/report.html", "", "/grids/{grid}"),
)
"""The old rule, the forms that it had as suffixes, and the new address."""

blp = Blueprint("moved", __name__, url_prefix=API_PREFIX)


def _serve(rule: str, forms: str, address: str) -> None:
    def lead(form: str = "", **names: Any) -> Response:
        told = {name: quote(str(text), safe="") for name, text in names.items()}
        place = address.format(form=f".{form}" if form else "", **told)
        place = place if place.startswith("/") else f"{API_PREFIX}/{place}"
        if query := request.query_string.decode():
            place += ("&" if "?" in place else "?") + query
        successor = f'<{place}>; rel="successor-version"'
        return Response(status=308, headers={"Location": place, "Deprecation": OLD_SINCE, "Link": successor})

    for one in (rule, *([f"{rule}.<any({forms}):form>"] if forms else [])):
        blp.add_url_rule(f"/{one}", one.translate({ord("."): "_"}), lead, methods=["GET", "POST", "DELETE"])


for _moved in MOVED:
    _serve(*_moved)
