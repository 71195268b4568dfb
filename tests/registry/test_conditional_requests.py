"""What a cache and a careful client rely on: tags, forms, HEAD, compression, and errors as problems."""

import gzip
import json
import re

import pytest

from tests.house import House, Project, publication

FORMS = {"json": "application/json", "txt": "text/plain", "md": "text/markdown"}


@pytest.fixture
def paths(project: Project) -> list[str]:
    """A path of everything that is stored."""
    grid = project.published()
    project.published(trials=150)
    alias = {"kind": "model", "alias": "a", "name": "b"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    home, one = f"projects/{project.slug}", f"grids/{grid['id']}"
    forms = [f"{one}.{form}" for form in FORMS] + [f"{one}/cells.{form}" for form in ("json", "csv", "ndjson")]
    return [
        home, f"{home}/events", f"{home}/grids", f"{home}/aliases", f"{home}/names/models", one,
        f"{one}/cells", f"{one}/revisions", f"{one}/difference?from=1&to=2", f"{one}?revision=1", *forms,
    ]  # fmt: skip


def test_everything_stored_has_a_tag_answers_304_to_it_and_head_as_get_without_a_body(
    project: Project, paths: list[str], subtests: pytest.Subtests
) -> None:
    for path in paths:
        with subtests.test(path):
            first, head = project.get(path), project.call("HEAD", path, "reader")
            tag = first.headers["ETag"]
            assert re.fullmatch(r'"[!#-~]+"', tag)
            for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
                again = project.get(path, headers={"If-None-Match": known})
                assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag), known
            assert project.get(path, headers={"If-None-Match": '"other"'}).status_code == 200
            assert (head.status_code, head.data) == (200, b"")
            for name in ("ETag", "Content-Type", "Content-Length", "Vary"):
                assert head.headers.get(name) == first.headers.get(name), name


def test_the_forms_of_a_grid_have_tags_of_their_own_and_a_suffix_beats_accept(project: Project) -> None:
    one = f"grids/{project.published()['id']}"
    by_suffix = {form: project.get(f"{one}.{form}") for form in FORMS}
    by_accept = {form: project.get(one, headers={"Accept": media}) for form, media in FORMS.items()}
    for form, media in FORMS.items():
        assert by_suffix[form].mimetype == by_accept[form].mimetype == media
        assert by_suffix[form].data == by_accept[form].data
        assert by_suffix[form].headers["ETag"] == by_accept[form].headers["ETag"]
    assert len({answer.headers["ETag"] for answer in by_suffix.values()}) == len(FORMS)
    text = by_suffix["txt"].headers["ETag"]
    assert project.get(one, headers={"If-None-Match": text}).status_code == 200
    assert project.get(f"{one}.txt", headers={"Accept": "application/json"}).mimetype == "text/plain"
    for accept in (
        "*/*",
        "",
        "application/json;q=0.1",
        "application/json, */*",
        "text/html,*/*;q=0.8",
        "application/*",
    ):
        assert project.get(one, headers={"Accept": accept}).mimetype == "application/json"


def test_a_form_that_there_is_not_is_refused_with_those_there_are(project: Project) -> None:
    grid, home = f"grids/{project.published()['id']}", f"projects/{project.slug}"
    grids = f"{home}/grids"
    table = ", ".join(FORMS.values())
    there = {
        grid: ("image/png", table),
        f"{grid}/statistics?part=trends": ("text/html", f"{table}, text/csv"),
        grids: ("text/csv", "application/json"),
        f"{grid}/revisions": ("text/csv, text/*;q=0.5", "application/json"),
    }
    for path, (accept, forms) in there.items():
        for method in ("GET", "HEAD"):
            answer = project.call(method, path, headers={"Accept": accept})
            assert (answer.status_code, answer.mimetype) == (406, "application/problem+json"), path
        told = project.get(path, headers={"Accept": accept}).get_json()
        assert told["detail"] == f"Accept allows none of the forms that there are: {forms}."
    # A write has happened when it is answered, and a path that names a form has chosen it.
    assert project.call("POST", grids, json=publication(trials=99), headers={"Accept": "text/csv"}).status_code == 201
    assert project.get(f"{grid}/heatmap.svg", headers={"Accept": "application/json"}).mimetype == "image/svg+xml"


def test_a_tag_changes_with_the_state_and_with_the_content(project: Project, house: House) -> None:
    one = f"grids/{project.published()['id']}"
    tags, pending = [project.get(one).headers["ETag"]], project.get(f"{one}/statistics")
    assert (pending.status_code, pending.headers["Retry-After"]) == (202, "1")
    assert "ETag" not in pending.headers
    for prefer in ("", "wait", "wait=", "wait=x", "wait=-1", "wait=0", "wait=1.5", "return=minimal", "é"):
        assert project.get(f"{one}/statistics", headers={"Prefer": prefer}).status_code == 202, prefer
    house.compute()
    ready = project.get(f"{one}/statistics")
    assert (ready.status_code, ready.get_json()["state"]) == (200, "ready")
    known = {"If-None-Match": ready.headers["ETag"]}
    assert project.get(f"{one}/statistics", headers=known).status_code == 304
    tags.append(project.get(one).headers["ETag"])
    project.published(trials=150)
    assert project.get(f"{one}/statistics", headers=known).status_code == 202
    tags.append(project.get(one).headers["ETag"])
    project.published()
    tags.append(project.get(one).headers["ETag"])
    assert len(set(tags)) == 4


def test_large_answers_are_compressed_for_those_who_take_it(project: Project) -> None:
    levels = [str(i) for i in range(400)]
    axes = [{"name": "Type", "kind": "nominal", "levels": levels}]
    one = f"grids/{project.published(axes=axes, values=[50] * 400)['id']}"
    plain, zipped = project.get(one), project.get(one, headers={"Accept-Encoding": "gzip"})
    assert "Content-Encoding" not in plain.headers
    assert zipped.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(zipped.data) == plain.data
    assert zipped.headers["ETag"] == f"W/{plain.headers['ETag']}"
    assert "Accept-Encoding" in zipped.headers["Vary"]
    assert "Accept-Encoding" in plain.headers["Vary"]
    again = project.get(one, headers={"Accept-Encoding": "gzip", "If-None-Match": zipped.headers["ETag"]})
    assert again.status_code == 304
    assert "Content-Encoding" not in project.get(one, headers={"Accept-Encoding": "gzip;q=0"}).headers


def test_a_nearly_empty_grid_may_shrink_a_thousandfold_on_its_way(project: Project) -> None:
    levels = [*range(400)]
    axes = [{"name": name, "kind": "numeric", "levels": levels} for name in ("x", "y")]
    body = gzip.compress(json.dumps(publication(axes=axes, values=[[None] * 400] * 400)).encode())
    assert len(body) < 10_000
    headers = {"Content-Encoding": "gzip"}
    path = f"projects/{project.slug}/grids"
    answer = project.call("POST", path, data=body, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.get_json()["cell_count"]) == (201, 0)


ALLOWED = [
    ("PUT", "projects", {"GET", "HEAD", "POST", "OPTIONS"}),
    ("DELETE", "projects", {"GET", "HEAD", "POST", "OPTIONS"}),
    ("POST", "projects/x", {"GET", "HEAD", "PATCH", "DELETE", "OPTIONS"}),
    ("GET", "projects/x/grids/batch", {"POST", "OPTIONS"}),
    ("POST", "limits", {"GET", "HEAD", "OPTIONS"}),
    ("DELETE", "projects/x/experiments/a/b", {"GET", "HEAD", "PATCH", "OPTIONS"}),
]


def test_another_method_is_405_with_those_allowed(house: House, subtests: pytest.Subtests) -> None:
    for method, path, allowed in ALLOWED:
        with subtests.test(f"{method} {path}"):
            answer = house.call(method, path)
            assert (answer.status_code, answer.content_type) == (405, "application/problem+json")
            assert set(answer.headers["Allow"].split(", ")) == allowed


def test_instants_are_utc_and_ids_sort_by_time(project: Project) -> None:
    first, second = project.published(), project.published(model="later")
    for name in ("created_at", "updated_at"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z", first[name])
    assert (first["id"][14], second["id"][14]) == ("7", "7")
    assert first["id"][:13] <= second["id"][:13]
