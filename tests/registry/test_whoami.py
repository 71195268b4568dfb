"""Who the caller is: GET /api/v1/whoami."""

from __future__ import annotations

from tests.house import House, Project


def test_a_token_is_told_its_name_role_project_and_expiry_and_no_secret(project: Project, house: House) -> None:
    answer = project.get("whoami")
    found = answer.get_json()
    assert (found["name"], found["role"], found["project"]) == ("reader", "reader", project.slug)
    assert found["created_at"] < found["expires_at"]
    assert set(found) == {"id", "name", "role", "project", "created_at", "expires_at", "last_used_at"}
    assert project.tokens["reader"].split("_")[2] not in answer.text
    found = house.call("GET", "whoami", token=house.operator).get_json()
    assert (found["role"], found["project"]) == ("admin", None)
    answer = house.call("GET", "whoami")
    assert (answer.status_code, "no token" in answer.get_json()["detail"]) == (401, True)
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
