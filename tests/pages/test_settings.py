"""Administration in the pages: every form does what the API does, once, says its error at its field, and is logged."""

from __future__ import annotations

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text

from registry.operations.auth import ROLES
from registry.storage.tables import aliases, new_id, tokens
from tests.house import House, Project
from tests.pages.conftest import Browser, Outline, browser
from tests.pages.settings import Administrator, Forms, administrator

SECTIONS = ("", "/members", "/tokens", "/shares", "/aliases", "/suites", "/alerts", "/deleted", "/audit")


@pytest.fixture
def admin(project: Project) -> Administrator:
    return administrator(project.house, project.tokens["admin"])


@pytest.fixture
def operator(house: House) -> Administrator:
    return administrator(house, house.operator)


def acts(project: Project) -> list[dict[str, Any]]:
    return project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]


def test_settings_are_for_administrators_as_in_the_api(house: House, project: Project, visitor: Browser) -> None:
    others = house.make_project().tokens["admin"]
    expected = [(project.tokens["reader"], 403), (project.tokens["writer"], 403), (others, 404), (house.operator, 200)]
    for section in SECTIONS:
        path = f"/projects/{project.slug}/settings{section}"
        visitor.read(path, 401)
        for token, status in expected:
            administrator(house, token).browser.read(path, status)
    for path in ("/settings/members", "/settings/tokens", "/settings/audit"):
        visitor.read(path, 401)
        administrator(house, project.tokens["admin"]).browser.read(path, 403)
        administrator(house, house.operator).browser.read(path)


def test_the_head_leads_administrators_to_the_settings_and_nobody_else(project: Project, visitor: Browser) -> None:
    path = f"/projects/{project.slug}"
    for role, seen in (("reader", False), ("writer", False), ("admin", True)):
        page = administrator(project.house, project.tokens[role]).browser.get(path).text
        assert (f'href="{path}/settings"' in page) is seen
    assert "/settings" not in visitor.get("/").text


def test_a_project_is_made_changed_and_deleted(operator: Administrator, house: House) -> None:
    slug = f"made-{uuid.uuid4().hex[:8]}"
    made = operator.send("/settings", slug=slug, name="", visibility="private")
    assert (made.status_code, made.headers["Location"]) == (303, f"/projects/{slug}/settings")
    page = f"/projects/{slug}/settings"
    assert operator.send(page, name="Näme <b>", visibility="public").status_code == 303
    stored = house.call("GET", f"projects/{slug}").get_json()
    assert (stored["name"], stored["visibility"]) == ("Näme <b>", "public")
    wrong = operator.send(page, f"{page}/delete", confirm=f"{slug}x")
    assert (wrong.status_code, list(Forms(wrong.text).faults)) == (422, ["confirm"])
    assert operator.send(page, f"{page}/delete", confirm=slug).headers["Location"] == "/settings"
    assert house.call("GET", f"projects/{slug}", token=house.operator).status_code == 404


def test_a_token_is_shown_once_and_stands_in_no_address_and_no_cache(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    made = admin.send(page, name="nightly", role="reader", days="7")
    shown = made.headers["Location"]
    assert made.status_code == 303
    assert "rgs_" not in shown + made.text
    first = admin.browser.get(shown)
    secret = re.search(r"rgs_\w{8}_\w{36}", first.text)[0]
    assert first.headers["Cache-Control"] == "no-store"
    assert project.house.call("GET", "whoami", token=secret).get_json()["role"] == "reader"
    assert "rgs_" not in admin.browser.get(shown).text
    listed = admin.browser.get(page)
    assert "nightly" in listed.text
    assert "rgs_" not in listed.text
    [created] = [one for one in acts(project) if one["act"] == "token.created"]
    assert created["token_id"] == project.call("GET", "whoami", "admin").get_json()["id"]
    assert created["detail"]["name"] == "nightly"


def test_the_page_of_a_token_shows_no_other_secret(project: Project, admin: Administrator) -> None:
    """A cookie that somebody else has set is not shown as the token that was made."""
    shown = admin.send(f"/projects/{project.slug}/settings/tokens", name="a", role="reader", days="7").headers[
        "Location"
    ]
    admin.browser.client.set_cookie("registry_secret", project.house.operator, path=shown)
    assert project.house.operator not in admin.browser.get(shown).text


def test_a_token_is_revoked_and_ends_its_sessions(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    reader = administrator(project.house, project.tokens["reader"]).browser
    identity = project.call("GET", "whoami", "reader").get_json()["id"]
    assert admin.send(page, f"{page}/{identity}/revoke").status_code == 303
    assert project.get("whoami").status_code == 401
    assert reader.get(f"/projects/{project.slug}").status_code == 401


def test_nobody_revokes_the_token_that_they_are_signed_in_with(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    mine = project.call("GET", "whoami", "admin").get_json()["id"]
    assert f"{mine}/revoke" not in admin.browser.get(page).text
    refused = admin.browser.post(f"{page}/{mine}/revoke", admin.open(page).forms[page])
    assert refused.status_code == 409
    assert "Sign in with another" in refused.text


def test_a_share_is_made_from_the_address_of_a_page_copied_and_revoked(
    project: Project, admin: Administrator, visitor: Browser
) -> None:
    grid = project.published()["id"]
    page = f"/projects/{project.slug}/settings/shares"
    assert admin.send(page, path=f"http://localhost/grids/{grid}", days="2").status_code == 303
    link = re.search(rf"/grids/{grid}\?share=[\w.-]+", admin.browser.get(page).text)[0]
    assert visitor.get(link).status_code == 200
    [revoke] = [path for path in admin.open(page).forms if path.endswith("/revoke")]
    assert admin.send(page, revoke).status_code == 303
    assert visitor.get(link).status_code == 401
    for path in ("/nowhere", f"/grids/{uuid.uuid4()}", "grids", "/projects/demo", "https://elsewhere.example/projects"):
        refused = admin.send(page, path=path, days="2")
        assert (refused.status_code, list(Forms(refused.text).faults)) == (422, ["path"]), path
    assert (
        f"it begins with /projects/{project.slug}, or with /grids/" in admin.send(page, path="/nowhere", days="2").text
    )


def test_a_ranking_is_shared_from_its_page_with_its_query_as_it_stands(
    project: Project, admin: Administrator, visitor: Browser
) -> None:
    for model, value in (("R1 & Qwen", 9.0), ("Llamaß", 5.0)):
        project.published(model=model, axes=[], values=value, trials=None)
    ranking = f"/projects/{project.slug}/rankings"
    query = "experiment=type-by-length&metric=accuracy&model=R1+%26+Qwen&model=Llama%C3%9F"
    for path in (f"{ranking}?{query}", f"/projects/{project.slug}"):
        project.call("GET", path.removeprefix("/"))
    project.house.compute()
    page = admin.browser.read(f"{ranking}?{query}&theme=dark")
    [led] = [
        given["href"] or "" for _, given in page.attributes if "/settings/shares?path=" in (given.get("href") or "")
    ]
    form = admin.open(led).forms[f"/projects/{project.slug}/settings/shares"]
    made = admin.browser.post(f"/projects/{project.slug}/settings/shares", form)
    shown = admin.browser.read(made.headers["Location"])
    [link] = [given["value"] or "" for _, given in shown.attributes if given.get("id") == "made"]
    path = link.removeprefix(project.house.settings.url)
    assert path.startswith(f"{ranking}?{query}&share=")
    seen = visitor.read(path)
    assert "R1 & Qwen" in seen.text
    assert "Llamaß" in seen.text
    # It opens the path with other queries too, as the form says, and nothing beside it.
    share = path.rpartition("share=")[2]
    assert visitor.get(f"{ranking}?share={share}").status_code in (200, 303)
    assert visitor.get(f"/projects/{project.slug}?share={share}").status_code == 401


def test_who_cannot_make_a_share_is_told_who_can(project: Project) -> None:
    project.published()
    page = administrator(project.house, project.tokens["reader"]).browser.read(
        f"/projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
    )
    assert "An administrator of the project can make a link" in page.text
    assert not any("/settings" in (given.get("href") or "") for _, given in page.attributes)


def test_a_grid_is_deleted_from_its_page_after_a_question_and_restored(project: Project, admin: Administrator) -> None:
    grid = project.published()["id"]
    links = {
        role: administrator(project.house, project.tokens[role]).browser.get(f"/grids/{grid}").text for role in ROLES
    }
    asking = f"/projects/{project.slug}/settings/deleted?grid={grid}"
    assert [role for role, text_ in links.items() if asking in text_] == ["admin"]
    page = f"/projects/{project.slug}/settings/deleted"
    delete = f"{page}/{grid}/delete"
    assert project.get(f"grids/{grid}").status_code == 200
    form = admin.open(asking).forms[delete]
    assert admin.browser.post(delete, form).headers["Location"] == page
    assert project.get(f"grids/{grid}").status_code == 404
    assert delete not in admin.open(asking).forms
    assert admin.send(page, f"{page}/{grid}/restore").status_code == 303
    assert project.get(f"grids/{grid}").status_code == 200
    assert [one["act"] for one in acts(project)][:2] == ["grid.restored", "grid.deleted"]


def test_a_grid_that_changed_since_the_question_is_not_deleted(
    project: Project, admin: Administrator, house: House
) -> None:
    grid = project.published()["id"]
    page = f"/projects/{project.slug}/settings/deleted"
    form = admin.open(f"{page}?grid={grid}").forms[f"{page}/{grid}/delete"]
    project.published(values=[[1, 2, 3], [4, 5, 6]])
    refused = admin.browser.post(f"{page}/{grid}/delete", form)
    assert (refused.status_code, "The grid is at revision 2, not 1" in refused.text) == (412, True)
    other = house.make_project()
    theirs = administrator(house, other.tokens["admin"])
    there = f"/projects/{other.slug}/settings/deleted"
    assert f"{there}/{grid}/delete" not in theirs.open(f"{there}?grid={grid}").forms
    forged = theirs.open(f"/projects/{other.slug}/settings").forms[f"/projects/{other.slug}/settings"]
    assert theirs.browser.post(f"{there}/{grid}/delete", forged | {"revision": "2"}).status_code == 404
    assert project.get(f"grids/{grid}").status_code == 200


def test_who_administers_nothing_is_told_what_they_may_do(project: Project) -> None:
    told = {}
    for role in ROLES:
        one = administrator(project.house, project.tokens[role]).browser
        told[role] = one.read("/account").text
        if role != "admin":
            refused = one.read("/settings", 403)
            assert "you administer no project" in refused.text
            assert "/account" in [given.get("href") for _, given in refused.attributes]
    assert f"{project.slug} reader read " in told["reader"]
    assert "publish" not in told["reader"]
    assert "publish, describe and delete with this token" in told["writer"]
    assert "settings" not in told["writer"]
    assert "; settings" in told["admin"]


def test_names_that_look_alike_are_joined_in_one_click_and_parted_again(project: Project, admin: Administrator) -> None:
    for benchmark, model in (("AIME24", "a"), ("AIME'24", "a"), ("AIME'24", "b")):
        project.published(benchmark=benchmark, model=model)
    page = f"/projects/{project.slug}/settings/aliases"
    text_ = admin.browser.get(page).text
    first = re.search(r"<li>.*?</form>", text_, re.DOTALL)[0]
    suggested = Forms(first).forms[page]
    assert (suggested["kind"], suggested["alias"], suggested["name"]) == ("benchmark", "AIME24", "AIME'24")
    assert admin.browser.post(page, suggested).status_code == 303
    [alias] = project.get(f"projects/{project.slug}/aliases").get_json()["items"]
    assert (alias["alias"], alias["name"]) == ("AIME24", "AIME'24")
    assert "look alike" not in admin.browser.get(page).text
    assert admin.send(page, f"{page}/{alias['id']}/delete").status_code == 303
    assert "look alike" in admin.browser.get(page).text


def test_a_suite_is_made_changed_and_deleted(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/suites"
    assert admin.send(page, name="maths", benchmarks="AIME'24\r\n\r\n GSM8K \r\n").status_code == 303
    path = f"projects/{project.slug}/suites/maths"
    assert project.get(path).get_json()["benchmarks"] == ["AIME'24", "GSM8K"]
    filled = admin.open(f"{page}?suite=maths").forms[page]
    assert (filled["name"], filled["benchmarks"]) == ("maths", "AIME'24\nGSM8K")
    assert admin.browser.post(page, filled | {"benchmarks": "GSM8K"}).status_code == 303
    assert project.get(path).get_json()["benchmarks"] == ["GSM8K"]
    assert admin.send(page, f"{page}/delete").status_code == 303
    assert project.get(path).status_code == 404


def test_a_deleted_grid_says_who_deleted_it_and_comes_back(project: Project, admin: Administrator) -> None:
    grid, kept = project.published(), project.published(model="kept")
    page = f"/projects/{project.slug}/settings/deleted"
    assert grid["model"] not in admin.browser.get(page).text
    project.call("DELETE", f"grids/{grid['id']}")
    shown = Outline(admin.browser.get(page).text).text
    assert grid["model"] in shown
    assert " writer " in shown
    assert admin.send(page, f"{page}/{grid['id']}/restore").status_code == 303
    assert project.get(f"grids/{grid['id']}").status_code == 200
    assert acts(project)[0]["act"] == "grid.restored"
    other = project.house.make_project().published()["id"]
    form = Forms(admin.browser.get(page).text).named["act"]
    for foreign in (other, uuid.uuid4()):
        assert admin.browser.post(f"{page}/{foreign}/restore", form).status_code == 404
    assert project.get(f"grids/{kept['id']}").status_code == 200


def test_deleted_grids_come_in_pages_the_last_deleted_first(
    project: Project, admin: Administrator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.pages.administration.deleted.ROWS", 2)
    for name in ("one", "two", "three", "four", "five"):
        project.published(model=name)
    order = ["four", "one", "five", "two", "three"]
    ids = {one["model"]: one["id"] for one in project.get(f"projects/{project.slug}/grids").get_json()["items"]}
    for name in order:
        project.call("DELETE", f"grids/{ids[name]}")
    path, seen = f"/projects/{project.slug}/settings/deleted", []
    while path:
        page = admin.browser.get(path).text
        seen += re.findall(r"<bdi>(one|two|three|four|five)</bdi>", page)
        more = re.search(r'rel="next" href="([^"]+)"', page)
        path = more[1].replace("&amp;", "&") if more else ""
    assert seen == order[::-1]


def test_the_audit_log_is_filtered_by_act_actor_and_day(project: Project, admin: Administrator) -> None:
    grid = project.published()["id"]
    project.call("DELETE", f"grids/{grid}")
    project.call("POST", f"grids/{grid}/restore", "admin")
    page = f"/projects/{project.slug}/settings/audit"

    def rows(query: str) -> list[str]:
        return re.findall(r"<td>((?:grid|token|session)\.\w+)</td>", admin.browser.get(f"{page}?{query}").text)

    assert rows("") == ["grid.restored", "grid.deleted", "session.created"]
    assert rows("act=grid.deleted") == ["grid.deleted"]
    assert rows("actor=WRIT") == ["grid.deleted"]
    assert rows("actor=%25") == []
    assert rows("day=2001-01-01") == []
    with project.house.database.reading() as connection:
        today = connection.scalar(text("SELECT current_date"))
    assert len(rows(f"day={today}")) == 3
    for wrong in ("act=x", "day=tomorrow", "day=2026-13-01", "actor=%00", "after=x"):
        admin.browser.read(f"{page}?{wrong}", 422)


FAULTS = [
    ("/tokens", {"name": "", "role": "reader", "days": "7"}, 422, "name"),
    ("/tokens", {"name": "<script>alert(1)</script>", "role": "king", "days": "7"}, 422, "role"),
    ("/tokens", {"name": "x" * 201, "role": "reader", "days": "7"}, 422, "name"),
    ("/tokens", {"name": "kept", "role": "reader", "days": "0"}, 422, "days"),
    ("/tokens", {"name": "kept", "role": "reader", "days": "many"}, 422, "days"),
    ("/aliases", {"kind": "model", "alias": "same", "name": "same"}, 422, "alias"),
    ("/suites", {"name": "kept", "benchmarks": ""}, 422, "benchmarks"),
    ("/members", {"kind": "user", "name": "a\x01b", "role": "reader"}, 422, "name"),
    ("/shares", {"path": "/projects/none", "days": "30"}, 422, "path"),
    ("", {"name": "", "visibility": "open"}, 422, "visibility"),
]


@pytest.mark.parametrize(("section", "typed", "status", "field"), FAULTS, ids=[str(one[:2]) for one in FAULTS])
def test_a_form_says_its_error_at_its_field_and_keeps_what_was_typed(
    project: Project, admin: Administrator, section: str, typed: dict[str, str], status: int, field: str
) -> None:
    page = f"/projects/{project.slug}/settings{section}"
    before = len(acts(project))
    answer = admin.send(page, **typed)
    assert answer.status_code == status
    assert Outline(answer.text).faults == []
    again = Forms(answer.text)
    assert field in again.faults
    kept = {name: value for name, value in typed.items() if name not in ("role", "visibility") and "\x01" not in value}
    assert again.forms[page].items() >= kept.items()
    assert "<script>alert" not in answer.text
    assert len(acts(project)) == before


def test_a_taken_name_is_a_conflict_at_its_field(
    project: Project, admin: Administrator, operator: Administrator
) -> None:
    taken = operator.send("/settings", slug=project.slug, name="x", visibility="private")
    assert (taken.status_code, list(Forms(taken.text).faults)) == (409, ["slug"])
    page = f"/projects/{project.slug}/settings/aliases"
    for status in (303, 409):
        answer = admin.send(page, kind="model", alias="a", name="b")
        assert answer.status_code == status
    assert list(Forms(answer.text).faults) == ["alias"]


def test_a_form_that_is_sent_twice_is_carried_out_once(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings"
    form = admin.open(f"{page}/shares").forms[f"{page}/shares"]
    led = [admin.browser.post(f"{page}/shares", form).headers["Location"] for _ in range(2)]
    assert led[0] == led[1]
    assert len(project.call("GET", f"projects/{project.slug}/shares", "admin").get_json()["items"]) == 1
    grid = project.published()["id"]
    project.call("DELETE", f"grids/{grid}")
    form = admin.open(f"{page}/deleted").forms[f"{page}/deleted/{grid}/restore"]
    assert [admin.browser.post(f"{page}/deleted/{grid}/restore", form).status_code for _ in range(2)] == [303, 303]
    assert [one["act"] for one in acts(project)].count("grid.restored") == 1


def test_a_double_click_makes_one_token_and_shows_the_secret_of_the_one_that_lives(
    project: Project, admin: Administrator
) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    form = admin.open(page).forms[page] | {"name": "twice", "role": "writer"}
    copies = [browser(project.house) for _ in range(4)]
    cookie = admin.browser.client.get_cookie("registry_session").value
    for one in copies:
        one.client.set_cookie("registry_session", cookie)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda one: one.post(page, form), copies))
    assert {one.status_code for one in answers} == {303}
    listed = project.call("GET", f"projects/{project.slug}/tokens", "admin").get_json()["items"]
    [alive] = [one["id"] for one in listed if one["name"] == "twice"]
    [place] = [number for number, one in enumerate(answers) if one.headers["Location"].endswith(alive)]
    secret = re.search(r"rgs_\w{8}_\w{36}", copies[place].get(answers[place].headers["Location"]).text)[0]
    assert project.house.call("GET", "whoami", token=secret).get_json()["id"] == alive


def test_a_form_that_comes_back_later_makes_no_second_token(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    form = admin.open(page).forms[page] | {"name": "late", "role": "writer"}
    first = admin.browser.post(page, form).headers["Location"]
    with project.house.database.transaction() as connection:
        connection.execute(
            tokens.update()
            .where(tokens.c.id == first.rpartition("/")[2])
            .values(created_at=func.now() - text("'2 min'::interval"))
        )
    assert admin.browser.post(page, form).headers["Location"] == first
    assert "Set-Cookie" not in admin.browser.post(page, form).headers


def test_two_administrators_who_change_a_project_at_once_do_not_overwrite_each_other(project: Project) -> None:
    page = f"/projects/{project.slug}/settings"
    first, second = (administrator(project.house, project.tokens["admin"]) for _ in range(2))
    forms = [one.open(page).forms[page] for one in (first, second)]
    assert first.browser.post(page, forms[0] | {"name": "first"}).status_code == 303
    late = second.browser.post(page, forms[1] | {"name": "second"})
    assert late.status_code == 412
    assert Forms(late.text).forms[page]["name"] == "second"
    assert project.get(f"projects/{project.slug}").get_json()["name"] == "first"


ATTACKS = [
    {"Sec-Fetch-Site": "cross-site"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"X-Nothing": "said"},
]


@pytest.mark.parametrize("headers", ATTACKS, ids=str)
def test_a_form_from_another_site_does_nothing(project: Project, admin: Administrator, headers: dict[str, str]) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    form = admin.open(page).forms[page] | {"name": "stolen"}
    assert admin.browser.client.post(page, data=form, headers=headers).status_code == 403
    assert "stolen" not in admin.browser.get(page).text


def test_a_form_with_the_key_of_another_session_or_none_does_nothing(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    form = admin.open(page).forms[page] | {"name": "stolen"}
    other = administrator(project.house, project.tokens["admin"]).open(page).forms[page]["_key"]
    for key in (other, "", "x", "é"):
        answer = admin.browser.post(page, form | {"_key": key})
        assert answer.status_code == 403
        assert "name=stolen" in answer.text  # the way back keeps what was typed
    without = {name: value for name, value in form.items() if name != "_form"}
    assert admin.browser.post(page, without).status_code == 422
    assert "stolen" not in Outline(admin.browser.get(page).text).text


@pytest.mark.parametrize("role", ["reader", "writer"])
def test_a_lesser_session_does_nothing_with_an_administrators_form(
    project: Project, admin: Administrator, role: str
) -> None:
    lesser = administrator(project.house, project.tokens[role])
    key = lesser.browser.get("/account").status_code
    assert key == 200
    before = len(acts(project))
    for section in ("", "/members", "/tokens", "/shares", "/aliases", "/suites"):
        page = f"/projects/{project.slug}/settings{section}"
        own_key = _key_of(project, lesser)
        for path, form in admin.open(page).forms.items():
            if path.startswith(page):
                answer = lesser.browser.post(path, form | {"_key": own_key, "_form": str(uuid.uuid4())})
                assert answer.status_code == 403, path
    assert len(acts(project)) == before


def _key_of(project: Project, who: Administrator) -> str:
    """The key of a session's forms, as the server would write it: a lesser one sees no form."""
    from registry.operations.sessions import form_key, resume_session

    secret = who.browser.client.get_cookie("registry_session").value
    with project.house.database.reading() as connection:
        return form_key(connection, resume_session(connection, secret))


def test_a_session_that_ends_while_a_form_is_filled_in_loses_nothing(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    typed = {"name": "ünsaved & kept", "role": "admin", "days": "12"}
    form = admin.open(page).forms[page] | typed
    cookie = admin.browser.client.get_cookie("registry_session").value
    elsewhere = browser(project.house)
    elsewhere.client.set_cookie("registry_session", cookie)
    elsewhere.post("/sign-out", {})
    refused = admin.browser.post(page, form)
    assert refused.status_code == 401
    assert "what you typed is in the form then" in refused.text
    back = Forms(refused.text).forms["/sign-in"]["back"]
    led = admin.browser.post("/sign-in", {"token": project.tokens["admin"], "back": back}).headers["Location"]
    again = admin.open(led).forms[page]
    assert {name: again[name] for name in typed} == typed
    assert admin.browser.post(page, again).status_code == 303


def test_a_page_of_the_settings_is_kept_by_nobody(project: Project, admin: Administrator) -> None:
    for section in SECTIONS:
        answer = admin.browser.get(f"/projects/{project.slug}/settings{section}")
        assert answer.headers["Cache-Control"] == "no-store"
        assert "ETag" not in answer.headers
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    assert admin.browser.get("/account").headers["Cache-Control"] == "no-store"


def test_a_form_that_is_too_long_is_refused_with_a_page(project: Project, admin: Administrator) -> None:
    page = f"/projects/{project.slug}/settings/suites"
    form = admin.open(page).forms[page] | {"name": "s", "benchmarks": "x" * 3_000_000}
    assert admin.browser.post(page, form).status_code == 413


def test_lists_of_thousands_come_in_small_pages(project: Project, admin: Administrator) -> None:
    count = 5_000
    with project.house.database.transaction() as connection:
        rows = [
            {"id": new_id(), "project_id": project.id, "name": f"token {n}", "role": "reader"} for n in range(count)
        ]
        connection.execute(
            insert(tokens).values(secret_hash=b"x", expires_at=func.now()),
            [row | {"public_id": f"{uuid.uuid4().hex[:12]}"} for row in rows],
        )
        connection.execute(
            insert(aliases),
            [
                {"id": new_id(), "project_id": project.id, "kind": "model", "alias": f"a{n}", "name": f"n{n}"}
                for n in range(count)
            ],
        )
    for section, name in (("tokens", "token"), ("aliases", "a")):
        path, seen = f"/projects/{project.slug}/settings/{section}", 0
        for _ in range(3):
            page = admin.browser.get(path).text
            assert len(page.encode()) < 60_000
            seen += len(re.findall(rf'<th scope="row"><bdi>{name} ?\d+</bdi>', page))
            path = re.search(r'rel="next" href="([^"]+)"', page)[1]
        assert seen in (147, 150)  # the project's own three tokens come first


def test_names_are_text_whatever_they_hold(project: Project, admin: Administrator) -> None:
    evil = "\"><img src=x onerror=alert(1)>'"
    project.published(model=evil, benchmark=evil)
    page = f"/projects/{project.slug}/settings"
    assert admin.send(page, name=evil, visibility="private").status_code == 303
    admin.send(f"{page}/tokens", name=evil, role="reader", days="3")
    admin.send(f"{page}/aliases", kind="model", alias=evil, name="x")
    admin.send(f"{page}/suites", name=evil, benchmarks=evil)
    admin.send(f"{page}/members", kind="group", name=evil, role="reader")
    for section in SECTIONS:
        shown = admin.browser.read(f"{page}{section}")  # reads strictly: no attribute of an event, no inline script
        assert not [given for tag, given in shown.attributes if tag == "img"]


def test_secrets_are_in_no_line_of_the_log(
    project: Project, admin: Administrator, capsys: pytest.CaptureFixture[str]
) -> None:
    page = f"/projects/{project.slug}/settings/tokens"
    capsys.readouterr()
    shown = admin.send(page, name="logged", role="reader", days="3").headers["Location"]
    secret = re.search(r"rgs_\w{8}_\w{36}", admin.browser.get(shown).text)[0]
    cookie = admin.browser.client.get_cookie("registry_session").value
    logged = "".join(capsys.readouterr())
    assert shown in logged
    assert secret not in logged
    assert cookie not in logged


def test_the_account_says_who_is_signed_in_and_until_when(
    project: Project, admin: Administrator, visitor: Browser
) -> None:
    page = admin.browser.read("/account").text
    assert all(word in page for word in ("with the token of this name", project.slug, "admin", "until"))
    visitor.read("/account", 401)


def test_an_operators_tokens_open_every_project(house: House, operator: Administrator) -> None:
    made = operator.send("/settings/tokens", name="for all", role="reader", days="1")
    secret = re.search(r"rgs_\w{8}_\w{36}", operator.browser.get(made.headers["Location"]).text)[0]
    assert house.call("GET", "whoami", token=secret).get_json()["project"] is None
    [row] = [one for one in _all_tokens(house) if one.name == "for all"]
    assert operator.send("/settings/tokens", f"/settings/tokens/{row.id}/revoke").status_code == 303
    assert house.call("GET", "whoami", token=secret).status_code == 401


def _all_tokens(house: House) -> list[Any]:
    with house.database.reading() as connection:
        return list(
            connection.execute(select(tokens).where(tokens.c.project_id.is_(None), tokens.c.revoked_at.is_(None)))
        )
