"""Who the caller is: GET /api/v1/whoami."""

from __future__ import annotations

from tests.house import House


def test_a_token_is_told_its_name_role_project_and_expiry(house: House) -> None:
    project = house.make_project()
    found = project.get("whoami").get_json()
    assert (found["name"], found["role"], found["project"]) == ("reader", "reader", project.slug)
    assert found["created_at"] < found["expires_at"]
    assert set(found) == {"id", "name", "role", "project", "created_at", "expires_at", "last_used_at"}


def test_an_administrator_of_everything_has_no_project(house: House) -> None:
    found = house.call("GET", "whoami", token=house.operator).get_json()
    assert (found["role"], found["project"]) == ("admin", None)


def test_without_a_token_nobody_is_calling(house: House) -> None:
    answer = house.call("GET", "whoami")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert "no token" in answer.get_json()["detail"]


def test_a_secret_is_not_told(house: House) -> None:
    project = house.make_project()
    assert project.tokens["reader"].split("_")[2] not in project.get("whoami").text
