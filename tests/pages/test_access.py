"""Who sees what: public projects without a token, private ones after signing in, and no form from another site."""

import base64
import io
import re
from datetime import timedelta
from hashlib import sha256

import pytest
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from registry.storage.tables import sessions
from tests.house import House, Project
from tests.pages.conftest import Browser, Outline, browser


def sign_in(visitor: Browser, token: str, back: str = "/", **headers: str) -> TestResponse:
    return visitor.post("/sign-in", {"token": token, "back": back}, **headers)


def ticket(answer: TestResponse) -> str:
    """The secret of the session in the cookie that this answer sets."""
    return answer.headers["Set-Cookie"].split("=", 1)[1].split(";")[0]


def test_a_private_project_is_for_who_signs_in_with_a_token_of_it(
    house: House, project: Project, visitor: Browser
) -> None:
    grid = project.published()
    house.compute()
    home, scope = f"/projects/{project.slug}", "experiment=type-by-length&metric=accuracy"
    seen = [
        home, f"{home}/grids", f"/grids/{grid['id']}", f"{home}/results?view=heatmaps&{scope}",
        f"{home}/results?view=ranking&{scope}",
        f"{home}/results?view=table&{scope}", f"/data/grids/{grid['id']}/cells.csv", f"/data{home}/grids",
    ]  # fmt: skip
    elsewhere = browser(house, house.make_project().tokens["admin"])
    for path in seen:
        page = visitor.read(path, 401)
        assert "Share, embed, cite" not in page.text
        back = page.all("input", name="back")[0]
        assert back["value"].rstrip("?") == path
        assert page.all("form", action="/sign-in")
        assert elsewhere.get(path).status_code == 404, path
    answer = sign_in(visitor, project.tokens["reader"], back=home)
    assert (answer.status_code, answer.headers["Location"]) == (303, home)
    for path in seen:
        assert visitor.get(path).status_code == 200, path
    assert f"/data/grids/{grid['id']}" in visitor.get(f"/grids/{grid['id']}").text
    assert project.slug in visitor.get("/").text
    visitor.post("/sign-out", {})
    assert visitor.get(home).status_code == 401
    assert project.slug not in visitor.get("/").text


def test_a_private_project_and_one_that_is_not_there_look_alike(project: Project, visitor: Browser) -> None:
    there, absent = (visitor.get(f"/projects/{slug}").text for slug in (project.slug, "p-000000000000"))
    changing = r"p-[0-9a-f]{12}|urn:uuid:[0-9a-f-]+"
    assert re.sub(changing, "", there) == re.sub(changing, "", absent)


def test_the_cookie_holds_no_token_and_no_script_can_read_it(project: Project, visitor: Browser) -> None:
    token = project.tokens["writer"]
    cookie = sign_in(visitor, token).headers["Set-Cookie"]
    assert token not in cookie
    assert token.split("_")[2] not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie


def test_outside_the_settings_a_session_may_read_and_nothing_else(project: Project) -> None:
    visitor = browser(project.house, project.tokens["admin"])
    assert visitor.get(f"/data/projects/{project.slug}/tokens").status_code == 403
    assert visitor.client.delete(f"/data/projects/{project.slug}").status_code == 405
    assert visitor.client.get(f"/api/v1/projects/{project.slug}").status_code == 401  # no cookies on the API


def test_a_visit_ends_with_its_token(project: Project) -> None:
    tokens = f"projects/{project.slug}/tokens"
    made = project.call("POST", tokens, "admin", json={"name": "t", "role": "reader"}).get_json()
    visitor = browser(project.house, made["token"])
    assert visitor.get(f"/projects/{project.slug}").status_code == 200
    project.call("DELETE", f"{tokens}/{made['id']}", "admin")
    answer = visitor.get(f"/projects/{project.slug}")
    assert answer.status_code == 401
    assert "registry_session=;" in answer.headers["Set-Cookie"]


def test_who_signs_out_ends_every_copy_of_the_ticket_and_no_other(project: Project, visitor: Browser) -> None:
    kept, other = browser(project.house), browser(project.house, project.tokens["reader"])
    kept.client.set_cookie("registry_session", ticket(sign_in(visitor, project.tokens["reader"])))
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
        assert "Share, embed, cite" not in page.text
        assert "Sign in" in page.text
        assert "Bearer" not in page.text
        assert "Authorization" not in page.text
        [above] = page.links("/sign-in?")  # the form itself is on this page
        assert visitor.get(above).status_code == 200


def forged(house: House, secret: str) -> list[str]:
    """What somebody might send who knows everything that the database holds of a session, or garbage."""
    digest = sha256(secret.encode()).digest()
    with house.database.reading() as connection:
        row = connection.execute(select(sessions).where(sessions.c.secret_hash == digest)).one()
    held = [row.secret_hash.hex(), base64.urlsafe_b64encode(row.secret_hash).decode(), str(row.id), str(row.token_id)]
    return [*held, secret[:-1], secret.swapcase(), f"{secret}x", "", "..", "%00.1.x", "x" * 4000]


def test_a_forged_session_is_nobody_even_with_all_that_the_database_holds(project: Project, visitor: Browser) -> None:
    for text in forged(project.house, ticket(sign_in(visitor, project.tokens["reader"]))):
        other = browser(project.house)
        other.client.set_cookie("registry_session", text)
        assert other.get(f"/projects/{project.slug}").status_code == 401, text


def test_a_wrong_token_is_refused_with_a_sentence(project: Project, visitor: Browser) -> None:
    genuine = project.tokens["reader"]
    misspelt = genuine[:-1] + ("x" if genuine[-1] != "x" else "y")
    for token in ("", "rgs_nonsense", misspelt, "x" * 10_000, "<script>"):
        answer = sign_in(visitor, token)
        assert answer.status_code == 401
        assert "not valid" in answer.text
        assert 'aria-invalid="true" aria-describedby="refused"' in answer.text
        assert Outline(answer.text).faults == []
        assert "Set-Cookie" not in answer.headers


ELSEWHERE = (
    *({"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "none")),
    *({"Origin": origin} for origin in ("https://evil.example", "null", "http://localhost.evil.example")),
    {"X-Nothing": "said"},
)


def test_a_stranger_sends_no_large_form(visitor: Browser, subtests: pytest.Subtests) -> None:
    for path in ("/sign-in", "/theme"):  # /sign-out reads none
        for form in ({"token": "x" * 70_000}, {"file": (io.BytesIO(b"x" * 70_000), "name")}):
            with subtests.test(path, form=list(form)):
                headers = {"Origin": "http://localhost"}
                assert visitor.client.post(path, data=form, headers=headers).status_code == 413


@pytest.mark.parametrize("path", ["/sign-in", "/sign-out", "/theme"])
def test_a_form_from_elsewhere_changes_nothing(project: Project, visitor: Browser, path: str) -> None:
    form = {"token": project.tokens["reader"], "theme": "dark"}
    for headers in ELSEWHERE:
        answer = visitor.client.post(path, data=form, headers=headers)
        assert answer.status_code == 403, headers
        assert "Set-Cookie" not in answer.headers
    for origin in ("http://[", "http://]", "http://a:b:c", "//", "http://\u2100", "x" * 5000):
        unreadable = {"Origin": origin.encode().decode("latin-1")}
        assert visitor.client.post(path, data={}, headers=unreadable).status_code == 403, origin


def test_a_form_of_our_own_is_taken_without_fetch_metadata_and_leads_nowhere_else(
    project: Project, visitor: Browser
) -> None:
    assert sign_in(visitor, project.tokens["reader"], Origin="http://localhost").status_code == 303
    for back in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:alert(1)", "/\r\nX: y", ""):
        assert sign_in(visitor, project.tokens["reader"], back=back).headers["Location"] == "/", back


def test_downloads_reach_nothing_but_grids_and_projects(visitor: Browser) -> None:
    for path in ("/data/limits", "/data/", "/data/../healthz", "/data/projects/../../metrics", "/data/grids/x"):
        assert visitor.get(path).status_code in (308, 404), path


def test_a_session_ends_after_thirty_days(project: Project, visitor: Browser) -> None:
    answer = sign_in(visitor, project.tokens["reader"])
    assert f"Max-Age={30 * 24 * 3600}" in answer.headers["Set-Cookie"]
    digest = sha256(ticket(answer).encode()).digest()
    for later, status in ((29.9, 200), (30.1, 401)):
        ends = func.now() + timedelta(days=30 - later)
        with project.house.database.transaction() as connection:
            connection.execute(update(sessions).where(sessions.c.secret_hash == digest).values(expires_at=ends))
        assert visitor.get(f"/projects/{project.slug}").status_code == status


def test_nobody_can_hand_a_session_to_another_browser_before_it_signs_in(project: Project, visitor: Browser) -> None:
    """Session fixation: the session after signing in is a new one, whatever cookie came with the form."""
    planted = ticket(sign_in(browser(project.house), project.tokens["reader"]))
    visitor.client.set_cookie("registry_session", planted)
    assert ticket(sign_in(visitor, project.tokens["admin"])) != planted


def test_under_https_the_cookie_is_secure_and_no_other_host_can_set_it(house: House, project: Project) -> None:
    """A browser takes a cookie with this prefix from the host itself only (RFC 6265bis, 4.1.3.2)."""
    client, https = house.app.test_client(), "https://localhost"
    form, headers = {"token": project.tokens["reader"]}, {"Sec-Fetch-Site": "same-origin"}
    answer = client.post("/sign-in", data=form, headers=headers, base_url=https)
    cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith("__Host-registry_session=")
    assert all(one in cookie for one in ("Secure", "Path=/"))
    assert "Domain" not in cookie
    planted = house.app.test_client()
    planted.set_cookie("registry_session", ticket(answer))
    path = f"/projects/{project.slug}"
    assert planted.get(path, base_url=https).status_code == 401
    assert client.get(path, base_url=https).status_code == 200


def test_without_a_sign_in_service_there_is_no_way_to_one(visitor: Browser) -> None:
    assert visitor.get("/sign-in/provider").status_code == 404
    assert visitor.get("/sign-in/callback?code=x&state=y").status_code == 404
    page = visitor.read("/sign-in")
    assert not page.links("/sign-in/provider")
    assert [form["action"] for form in page.all("form")] == ["/search", "/sign-in", "/theme"]
