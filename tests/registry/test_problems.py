"""Errors as problems: one title a type, a type that can be looked up, and the headers that belong to it."""

import uuid

from registry import errors
from registry.api.problems import KINDS, plain_problem
from tests.house import House, Project


def test_every_type_of_problem_is_explained_where_it_points(house: House) -> None:
    page = house.call("GET", "/docs").text
    assert [code for code in KINDS if f'id="problem-{code}"' not in page] == []


def test_every_error_that_is_answered_has_a_kind() -> None:
    kinds, found = [errors.RegistryError], set()
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if kind.__module__ == errors.__name__:  # the client and the command line have errors of their own
            found.add(kind.code)
    assert found - {"try_later", "misconfigured"} <= KINDS.keys()


def test_what_http_itself_refuses_is_of_a_known_kind_and_keeps_its_status() -> None:
    for status in range(400, 600):
        problem = plain_problem(status, "x", request=str(uuid.uuid4()))
        code = problem["type"].removeprefix("/docs#problem-")
        assert (problem["title"], problem["status"]) == (KINDS[code].title, status)


def test_a_path_without_a_resource_is_said_in_our_words(project: Project) -> None:
    for path in (f"grids/{uuid.uuid4()}/peak", "grids/01a2002b", f"projects/{project.slug}/experiment/x"):
        problem = project.get(path).get_json()
        assert problem["title"] == KINDS["not_found"].title
        assert f"/api/v1/{path}" in problem["detail"]
        assert "spelling" not in problem["detail"]


def test_a_bad_token_is_told_from_none(project: Project) -> None:
    path = f"projects/{project.slug}"
    assert "error" not in project.house.call("GET", path).headers["WWW-Authenticate"]
    bad = project.house.call("GET", path, token="rgs_bad").headers["WWW-Authenticate"]
    assert bad.endswith('error="invalid_token"')


def test_a_resource_that_is_patched_says_in_which_form(project: Project) -> None:
    options = project.call("OPTIONS", f"grids/{uuid.uuid4()}/cells")
    assert options.headers["Accept-Patch"] == "application/json"
    assert "Accept-Patch" not in project.call("OPTIONS", f"grids/{uuid.uuid4()}/revisions").headers
