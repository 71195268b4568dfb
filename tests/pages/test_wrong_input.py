"""Whatever stands in an address, a header or a form: no page answers with a defect of the server."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

import pytest

from registry import create_app
from registry.errors import Unavailable
from registry.settings import Settings
from registry.storage.circuit_breaker import AWAY
from registry.storage.database import Database
from tests.house import House
from tests.pages.conftest import Browser, Demo
from tests.ports import free_port

WRONG = ("-" + "9" * 5000, "1e99999", "a\0b", "%", "\ud7ff", "é" * 300, "../..", "\u0663", "\u00b2", "1_0", " ",
         "nan,nan", "http://[", "~", "0~", "f" * 2000)  # fmt: skip
PARAMETERS = {
    "/": "after",
    "/projects/demo": "experiment model sort cursor updated_since id label.seed label.\0 limit",
    "/projects/demo/experiments/window-by-ratio": "metric model range palette cursor",
    "/projects/demo/rankings": "experiment metric by alpha method target model pairs_of share",
    "/projects/demo/comparisons": "baseline contender baseline_revision find alpha",
    "GRID": "revision baseline show range palette before share",
    "/sign-in": "back",
}
NAMES = (
    "/projects/{}", "/projects/demo/experiments/{}", "/projects/demo/grids/{}", "/projects/{}/rankings", "/grids/{}",
    "/data/{}", "/data/grids/{}", "/data/projects/{}", "/data/projects/demo/experiments/{}",
    "/assets/{}", "/projects/{}/experiments/a", "/projects/{}/comparisons",
)  # fmt: skip


def test_no_parameter_of_a_page_and_no_name_in_a_path_is_a_defect(demo: Demo, guest: Browser) -> None:
    asked = [
        f"{demo.seed0 if path == 'GRID' else path}?{quote(name)}={quote(wrong)}"
        for path, names in PARAMETERS.items()
        for name in names.split()
        for wrong in WRONG
    ]
    asked += [path.format(quote(wrong, safe="")) for path in NAMES for wrong in WRONG]
    found = {path[:120]: status for path in asked if (status := guest.get(path).status_code) >= 500}
    assert found == {}


def test_a_cookie_that_cannot_be_read_is_no_visit(guest: Browser) -> None:
    for wrong in WRONG:
        for name in ("registry_session", "registry_theme"):
            guest.client.set_cookie(name, quote(wrong)[:4000])
            assert guest.get("/").status_code == 200


def test_who_only_reads_is_not_told_to_repeat_a_write(visitor: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(_self: Database) -> Any:
        raise Unavailable(AWAY, 2, "database_away")

    monkeypatch.setattr(Database, "reading", away)
    page = visitor.read("/", 503)
    assert "The database does not answer. Load this page again in a moment." in page.text
    assert "a write" not in page.text
    visitor.client.set_cookie("registry_session", "any")
    assert visitor.get("/assets/palette.css").status_code == 200


def test_the_status_is_a_page_while_the_database_is_away(settings: Settings, house: House) -> None:
    """Nobody listens at this port; a visitor with a session is looked up first."""
    nowhere = replace(settings, database_url=f"postgresql://u:hush@127.0.0.1:{free_port()}/d")
    app = create_app(nowhere)
    visitor = Browser(replace(house, app=app), app.test_client())
    visitor.client.set_cookie("registry_session", "x")
    page = visitor.read("/status")
    assert "The database does not answer. This web process has seen so since" in page.text
    [since] = page.all("time")
    assert timedelta() <= datetime.now(UTC) - datetime.fromisoformat(since["datetime"]) < timedelta(minutes=1)
    assert "repeat it with the same Idempotency-Key" in page.text
    assert page.all("main")[0]["data-every"] == "2"
    assert "hush" not in page.text
    assert [app.test_client().get(path).status_code for path in ("/readyz", "/")] == [503, 503]
