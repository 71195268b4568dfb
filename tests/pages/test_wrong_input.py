"""Whatever stands in an address, a header or a form: no page answers with a defect of the server."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.pages.conftest import Browser, Demo

WRONG = ("9" * 5000, "-" + "9" * 5000, "1e99999", "0x10", "\0", "a\0b", "%", "\ud7ff", "é" * 300, "' OR 1=1 --",
         "../..", "\u0663", "\u00b2", "1_0", " ", "[", "nan,nan", "http://[", "~", "0~", "f" * 2000)  # fmt: skip
PARAMETERS = {
    "/": ("after",),
    "/projects/demo": (
        "experiment",
        "model",
        "sort",
        "cursor",
        "updated_since",
        "id",
        "label.seed",
        "label.\0",
        "limit",
    ),
    "/projects/demo/experiments/window-by-ratio": ("metric", "model", "range", "palette", "cursor"),
    "/projects/demo/rankings": (
        "experiment",
        "metric",
        "by",
        "alpha",
        "method",
        "target",
        "model",
        "pairs_of",
        "share",
    ),
    "/projects/demo/comparisons": ("baseline", "contender", "baseline_revision", "find", "alpha"),
    "GRID": ("revision", "baseline", "show", "range", "palette", "before", "share"),
    "/sign-in": ("back",),
}


@pytest.mark.parametrize("path", PARAMETERS)
def test_no_parameter_of_a_page_is_a_defect(demo: Demo, guest: Browser, path: str) -> None:
    page = demo.seed0 if path == "GRID" else path
    found = {}
    for name in PARAMETERS[path]:
        for wrong in WRONG:
            status = guest.get(f"{page}?{quote(name)}={quote(wrong)}").status_code
            if status >= 500:
                found[name, wrong[:10]] = status
    assert found == {}


@pytest.mark.parametrize(
    "path",
    ["/projects/{}", "/projects/demo/experiments/{}", "/projects/demo/grids/{}", "/projects/{}/rankings", "/grids/{}",
     "/data/{}", "/data/grids/{}", "/data/projects/{}", "/data/projects/demo/experiments/{}/sweet-spot?metric=a",
     "/assets/{}", "/projects/{}/experiments/a", "/projects/{}/comparisons"],
)  # fmt: skip
def test_no_name_in_a_path_is_a_defect(demo: Demo, guest: Browser, path: str) -> None:
    found = {}
    for wrong in WRONG:
        status = guest.get(path.format(quote(wrong, safe=""))).status_code
        if status >= 500:
            found[wrong[:10]] = status
    assert found == {}


@pytest.mark.parametrize("origin", ["http://[", "http://]", "http://a:b:c", "//", "http://\u2100", "x" * 5000])
@pytest.mark.parametrize("path", ["/theme", "/sign-in", "/sign-out"])
def test_an_origin_that_cannot_be_read_is_another_site(guest: Browser, path: str, origin: str) -> None:
    answer = guest.client.post(path, data={}, headers={"Origin": origin.encode().decode("latin-1")})
    assert answer.status_code == 403


def test_a_cookie_that_cannot_be_read_is_no_visit(guest: Browser) -> None:
    for wrong in WRONG:
        for name in ("registry_session", "registry_theme"):
            guest.client.set_cookie(name, quote(wrong)[:4000])
            assert guest.get("/").status_code == 200
