"""Addresses in answers: each can be followed, by whoever got it, and leads on to the answer."""

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from registry.api.smorest import API_PREFIX
from registry.demo import demo_grids
from registry.settings import Settings
from tests.house import House, Project, publication

ASKED = (
    "projects/{project}/rankings?experiment=an+%26+b&metric=accuracy&alpha=0.0123&benchmark=B%2F1&by=axis%3ALength",
    "projects/{project}/rankings.json?experiment=an+%26+b&metric=accuracy&method=borda",
    "projects/{project}/comparisons?baseline={a}&contender={b}&alpha=0.01",
    "projects/{project}/comparisons.json?baseline={a}&contender={b}&baseline_revision=1",
    "grids/{a}/statistics",
    "grids/{a}/statistics?part=peaks&alpha=0.01",
    "grids/{a}/statistics.json?part=trends&along=Length&sharp_change=3",
    "grids/{a}/statistics?part=thresholds&value=90&value=95.5",
    "grids/{a}/statistics.json?part=thresholds&value=90&along=Length",
)


def test_what_is_pending_says_where_its_answer_will_be_and_there_it_is_in_the_end(
    project: Project, subtests: pytest.Subtests
) -> None:
    about = {"experiment": "an & b", "benchmark": "B/1"}
    names = {model: project.published(model=model, **about)["id"] for model in "ab"} | {"project": project.slug}
    places = {}
    for asked in ASKED:
        with subtests.test(asked):
            pending = project.get(asked.format(**names))
            assert pending.status_code == 202, pending.text
            assert "" not in [pending.get_json().get(name) for name in ("experiment", "metric")]
            places[asked] = pending.get_json()["derivation"]["href"]
            assert pending.headers["Location"] == places[asked]
            assert project.get(places[asked]).status_code == 202
    project.house.compute()
    for asked, place in places.items():
        with subtests.test(asked, computed=True):
            after = project.get(place)
            assert after.status_code == 200
            assert "reason" not in (after.get_json(silent=True) or {}) or after.get_json()["state"] != "failed"


def test_who_reads_by_a_link_comes_back_by_it(house: House) -> None:
    project = house.make_project()
    grid = project.published()["id"]
    path = f"{API_PREFIX}/grids/{grid}"
    url = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": path}).get_json()["url"]
    pending = house.call("GET", f"{path}/statistics?part=trends&{urlsplit(url).query}")
    assert pending.status_code == 202
    assert house.call("GET", pending.headers["Location"]).status_code == 202


def addresses(value: Any) -> Iterator[str]:
    """Every address in a JSON document."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name in ("href", "url", "html_url") and isinstance(one, str):
                yield one.removeprefix(Settings().url)
            else:
                yield from addresses(one)
    elif isinstance(value, list):
        for one in value:
            yield from addresses(one)


def test_every_address_in_every_answer_can_be_followed(house: House) -> None:
    """From the root of the API, as one who may read one project with the seeds of the demonstration."""
    project = house.make_project()
    pages = [urlsplit(project.publish(grid).get_json()["html_url"]).path for grid in demo_grids()]
    first = demo_grids()[0]
    home = f"{API_PREFIX}/projects/{project.slug}"
    question = urlencode({"experiment": first["experiment"], "metric": first["metric"]["name"]})
    waiting = [*pages, API_PREFIX, home, f"{home}/rankings?{question}", f"{home}/cells?{question}"]
    kinds = ("models", "benchmarks", "variants", "experiments", "metrics")
    lists = ("grids", "aliases", *(f"names/{kind}" for kind in kinds))
    waiting += [f"{home}/{name}?limit=2" for name in lists]
    followed: set[str] = set()
    while waiting:
        address = waiting.pop()
        if address in followed:
            continue
        followed.add(address)
        answer = project.get(address)
        assert answer.status_code in (200, 202), (address, answer.text)
        link = re.fullmatch('<(.*)>; rel="next"', answer.headers.get("Link", ""))
        found = [link[1]] if link else []
        if answer.is_json and address != "/openapi.json":  # of which the examples are of another registry
            found += addresses(answer.get_json())
        if "Location" in answer.headers:
            found.append(answer.headers["Location"])
        for one in found:
            parts = urlsplit(one)
            waiting.append(f"{parts.path}?{parts.query}" if parts.query else parts.path)
    assert followed > {f"{API_PREFIX}{page}/statistics" for page in pages}


LISTS = ("grids", "grids?sort=model", "grids?sort=-created_at", "names/models", "aliases", "tokens", "shares")


@pytest.fixture(scope="module")
def many(house: House) -> Project:
    project = house.make_project()
    home = f"projects/{project.slug}"
    for number in range(5):
        # Two grids a model, so that sort keys come twice.
        for benchmark in ("x", f"y {number}"):
            project.published(model=f"m {number % 3}", variant=f"v {number}", benchmark=benchmark)
        alias = {"kind": "model", "alias": f"a {number}", "name": "m 1"}
        project.call("POST", f"{home}/aliases", json=alias)
        project.call("POST", f"{home}/tokens", "admin", json={"name": f"t {number}"})
        project.call("POST", f"{home}/shares", "admin", json={"path": f"/api/v1/{home}/cells"})
    return project


def test_a_list_is_paged_to_its_end_without_gap_or_repetition(many: Project, subtests: pytest.Subtests) -> None:
    def read(path: str) -> Any:
        answer = many.call("GET", path, "admin")
        assert answer.status_code == 200, answer.text
        return answer

    for listed, limit in product([*LISTS, "audit"], (1, 2, 5)):
        with subtests.test(listed, limit=limit):
            address = f"{API_PREFIX}/projects/{many.slug}/{listed}{'&' if '?' in listed else '?'}limit="
            whole, address, found = read(f"{address}1000").get_json()["items"], f"{address}{limit}", []
            assert len(whole) > 2
            while address:
                answer = read(address)
                items, more = answer.get_json()["items"], answer.get_json()["next"]
                assert 1 <= len(items) <= limit
                found += items
                link = re.fullmatch('<(.*)>; rel="next"', answer.headers.get("Link", ""))
                assert (link is None) == (more is None)
                address = link[1] if link else ""
            assert [json.dumps(one) for one in found] == [json.dumps(one) for one in whole]


def test_a_published_grid_tells_its_page(house: House, project: Project) -> None:
    grid = project.published()
    assert grid["html_url"] == f"{house.settings.url}/grids/{grid['id']}"
    batch = project.call("POST", f"projects/{project.slug}/grids/batch", json=[publication()]).get_json()
    assert [one["grid"]["html_url"] for one in batch["items"]] == [grid["html_url"]]
    listed = project.get(f"projects/{project.slug}/grids").get_json()["items"][0]
    for read in (listed, *(project.get(f"grids/{grid['id']}{rest}").get_json() for rest in ("", "?revision=1"))):
        assert read["html_url"] == grid["html_url"]
    assert project.get(urlsplit(grid["html_url"]).path).status_code == 200


def test_who_prefers_to_wait_is_told_so_and_a_write_waits_too(house: House, project: Project) -> None:
    prefer = {"Prefer": "wait=1"}
    made = project.publish(headers=prefer)
    assert (made.status_code, made.headers["Preference-Applied"]) == (201, "wait=1")
    assert made.get_json()["derivation"]["state"] == "pending", "nobody computes"
    house.compute()
    again = project.publish(headers=prefer)
    assert (again.status_code, again.get_json()["derivation"]["state"]) == (200, "ready")
    assert again.headers["ETag"] == project.get(f"grids/{again.get_json()['id']}").headers["ETag"]
    statistics = project.get(f"grids/{again.get_json()['id']}/statistics", headers=prefer)
    assert statistics.headers["Preference-Applied"] == "wait=1"
    assert "Preference-Applied" not in project.publish().headers
    dry = project.publish(publication(model="other"), query_string={"dry_run": "true"}, headers=prefer)
    assert "Preference-Applied" not in dry.headers
