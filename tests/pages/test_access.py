"""Who sees what: public projects without a token, private ones after signing in, and no form from another site."""

from __future__ import annotations

import base64
import re
from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import func, select, update

from registry.storage.tables import sessions
from tests.house import House, Project
from tests.pages.conftest import Browser, Outline, browser


def sign_in(visitor: Browser, token: str, back: str = "/", **headers: str) -> object:
    return visitor.post("/sign-in", {"token": token, "back": back}, **headers)


def paths(project: Project) -> list[str]:
    grid = project.published()
    project.house.compute()
    return [
        f"/projects/{project.slug}",
        f"/projects/{project.slug}/grids",
        f"/grids/{grid['id']}",
        f"/projects/{project.slug}/experiments/type-by-length",
        f"/projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy",
        f"/projects/{project.slug}/aggregates?experiment=type-by-length&metric=accuracy",
        f"/data/grids/{grid['id']}.csv",
        f"/data/projects/{project.slug}/grids",
    ]


def test_strangers_are_asked_to_sign_in_and_return_to_where_they_were(project: Project, visitor: Browser) -> None:
    for path in paths(project):
        page = visitor.read(path, 401)
        back = next(given["value"] for tag, given in page.attributes if given.get("name") == "back")
        assert back.rstrip("?") == path
        assert ("form", "/sign-in") in [(tag, given.get("action")) for tag, given in page.attributes]


def test_a_private_project_and_one_that_is_not_there_look_alike(project: Project, visitor: Browser) -> None:
    there = visitor.get(f"/projects/{project.slug}").text
    absent = visitor.get("/projects/p-000000000000").text
    plain = [re.sub(r"p-[0-9a-f]{12}|urn:uuid:[0-9a-f-]+", "", text) for text in (there, absent)]
    assert plain[0] == plain[1]


def test_who_signs_in_sees_the_project_and_its_downloads(project: Project, visitor: Browser) -> None:
    seen = paths(project)
    answer = sign_in(visitor, project.tokens["reader"], back=seen[0])
    assert (answer.status_code, answer.headers["Location"]) == (303, seen[0])
    for path in seen:
        assert visitor.get(path).status_code == 200, path
    assert f"/data{seen[2]}" in visitor.get(seen[2]).text
    assert project.slug in visitor.get("/").text
    visitor.post("/sign-out", {})
    assert visitor.get(seen[0]).status_code == 401
    assert project.slug not in visitor.get("/").text


def test_the_token_of_another_project_opens_nothing(house: House, project: Project, visitor: Browser) -> None:
    other = house.make_project()
    sign_in(visitor, other.tokens["admin"])
    for path in paths(project):
        assert visitor.get(path).status_code == 404, path


def test_the_cookie_holds_no_token_and_no_script_can_read_it(project: Project, visitor: Browser) -> None:
    token = project.tokens["writer"]
    cookie = sign_in(visitor, token).headers["Set-Cookie"]
    assert token not in cookie
    assert token.split("_")[2] not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie


def test_the_cookie_is_secure_where_the_registry_is_reached_by_https(house: House, project: Project) -> None:
    client = house.app.test_client()
    answer = client.post(
        "/sign-in",
        data={"token": project.tokens["reader"]},
        headers={"Sec-Fetch-Site": "same-origin"},
        base_url="https://localhost",
    )
    assert "Secure" in answer.headers["Set-Cookie"]


def test_outside_the_settings_a_session_may_read_and_nothing_else(project: Project, visitor: Browser) -> None:
    sign_in(visitor, project.tokens["admin"])
    assert visitor.get(f"/data/projects/{project.slug}/tokens").status_code == 403
    assert visitor.client.delete(f"/data/projects/{project.slug}").status_code == 405
    assert visitor.client.get(f"/api/v1/projects/{project.slug}").status_code == 401  # no cookies on the API


def test_a_visit_ends_with_its_token(project: Project, visitor: Browser) -> None:
    made = project.call("POST", f"projects/{project.slug}/tokens", "admin", json={"name": "t", "role": "reader"})
    sign_in(visitor, made.get_json()["token"])
    assert visitor.get(f"/projects/{project.slug}").status_code == 200
    project.call("DELETE", f"projects/{project.slug}/tokens/{made.get_json()['id']}", "admin")
    answer = visitor.get(f"/projects/{project.slug}")
    assert answer.status_code == 401
    assert "registry_session=;" in answer.headers["Set-Cookie"]


def test_who_signs_out_ends_every_copy_of_the_ticket_and_no_other(project: Project, visitor: Browser) -> None:
    kept, other = browser(project.house), browser(project.house)
    ticket = sign_in(visitor, project.tokens["reader"]).headers["Set-Cookie"].split("=", 1)[1].split(";")[0]
    kept.client.set_cookie("registry_session", ticket)
    sign_in(other, project.tokens["reader"])
    path = f"/projects/{project.slug}"
    assert [one.get(path).status_code for one in (visitor, kept, other)] == [200, 200, 200]
    visitor.post("/sign-out", {})
    kept.post("/sign-out", {}, Origin="http://evil.example")
    assert [one.get(path).status_code for one in (visitor, kept, other)] == [401, 401, 200]
    acts = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    assert [one["act"] for one in acts].count("session.ended") == 1


def test_a_person_is_asked_to_sign_in_without_words_for_programs(project: Project, visitor: Browser) -> None:
    grid = project.published()["id"]
    for path in (f"/projects/{project.slug}", f"/grids/{grid}", f"/grids/{grid}?share=worthless"):
        page = visitor.read(path, 401)
        assert "Sign in" in page.text
        assert "Bearer" not in page.text
        assert "Authorization" not in page.text
        link = next(given["href"] for tag, given in page.attributes if "/sign-in?" in (given.get("href") or ""))
        assert visitor.get(link).status_code == 200


def forged(house: House, secret: str) -> list[str]:
    """What somebody might send who knows everything that the database holds of a session, or garbage."""
    with house.database.reading() as connection:
        stored = connection.execute(select(sessions).where(sessions.c.secret_hash == sha256(secret.encode()).digest()))
        row = stored.one()
    held = [row.secret_hash.hex(), base64.urlsafe_b64encode(row.secret_hash).decode(), str(row.id), str(row.token_id)]
    return [*held, secret[:-1], secret.swapcase(), f"{secret}x", "", "..", "%00.1.x", "x" * 4000]


def test_a_forged_session_is_nobody_even_with_all_that_the_database_holds(project: Project, visitor: Browser) -> None:
    cookie = sign_in(visitor, project.tokens["reader"]).headers["Set-Cookie"]
    for text in forged(project.house, cookie.split("=", 1)[1].split(";")[0]):
        other = browser(project.house)
        other.client.set_cookie("registry_session", text)
        assert other.get(f"/projects/{project.slug}").status_code == 401, text


def test_a_wrong_token_is_refused_with_a_sentence(project: Project, visitor: Browser) -> None:
    for token in ("", "rgs_nonsense", project.tokens["reader"][:-1] + "x", "x" * 10_000, "<script>"):
        answer = sign_in(visitor, token)
        assert answer.status_code == 401
        assert "not valid" in answer.text
        assert Outline(answer.text).faults == []
        assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost.evil.example"},
        {"X-Nothing": "said"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/theme"])
def test_a_form_from_elsewhere_changes_nothing(
    project: Project, visitor: Browser, path: str, headers: dict[str, str]
) -> None:
    form = {"token": project.tokens["reader"], "theme": "dark"}
    answer = visitor.client.post(path, data=form, headers=headers)
    assert answer.status_code == 403
    assert "Set-Cookie" not in answer.headers


def test_a_form_of_our_own_is_taken_without_fetch_metadata(project: Project, visitor: Browser) -> None:
    answer = sign_in(visitor, project.tokens["reader"], Origin="http://localhost")
    assert answer.status_code == 303


@pytest.mark.parametrize(
    "back", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\r\nX: y", ""]
)
def test_nobody_is_sent_elsewhere_after_signing_in(project: Project, visitor: Browser, back: str) -> None:
    assert sign_in(visitor, project.tokens["reader"], back=back).headers["Location"] == "/"


def test_downloads_reach_nothing_but_grids_and_projects(house: House, visitor: Browser) -> None:
    for path in ("/data/limits", "/data/", "/data/../healthz", "/data/projects/../../metrics", "/data/grids/x"):
        assert visitor.get(path).status_code in (308, 404), path


def test_a_session_ends_after_thirty_days(project: Project, visitor: Browser) -> None:
    cookie = sign_in(visitor, project.tokens["reader"]).headers["Set-Cookie"]
    assert f"Max-Age={30 * 24 * 3600}" in cookie
    digest = sha256(cookie.split("=", 1)[1].split(";")[0].encode()).digest()
    for later, status in ((29.9, 200), (30.1, 401)):
        ends = func.now() + timedelta(days=30 - later)
        with project.house.database.transaction() as connection:
            connection.execute(update(sessions).where(sessions.c.secret_hash == digest).values(expires_at=ends))
        assert visitor.get(f"/projects/{project.slug}").status_code == status


def test_nobody_can_hand_a_session_to_another_browser_before_it_signs_in(project: Project, visitor: Browser) -> None:
    """Session fixation: the session after signing in is a new one, whatever cookie came with the form."""
    planted = sign_in(browser(project.house), project.tokens["reader"]).headers["Set-Cookie"].split(";")[0]
    visitor.client.set_cookie(*planted.split("=", 1))
    assert sign_in(visitor, project.tokens["admin"]).headers["Set-Cookie"].split(";")[0] != planted


def test_under_https_no_other_host_can_set_the_cookie(house: House, project: Project) -> None:
    """A browser takes a cookie with this prefix from the host itself only (RFC 6265bis, 4.1.3.2)."""
    client = house.app.test_client()
    form = {"token": project.tokens["reader"]}
    headers = {"Sec-Fetch-Site": "same-origin"}
    cookie = client.post("/sign-in", data=form, headers=headers, base_url="https://localhost").headers["Set-Cookie"]
    assert cookie.startswith("__Host-registry_session=")
    assert all(one in cookie for one in ("Secure", "Path=/"))
    assert "Domain" not in cookie
    planted = browser(house)
    planted.client.set_cookie("registry_session", cookie.split("=", 1)[1].split(";")[0])
    path = f"/projects/{project.slug}"
    assert planted.client.get(path, base_url="https://localhost").status_code == 401
    assert client.get(path, base_url="https://localhost").status_code == 200
