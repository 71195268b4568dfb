"""Administration in the pages: every form does what the API does, once, says its error at its field, and is logged."""

import re
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text
from structlog.testing import capture_logs

from registry.operations.auth import ROLES
from registry.operations.sessions import form_key, resume_session
from registry.storage.tables import aliases, new_id, tokens
from tests.house import House, Project
from tests.pages.conftest import Administrator, Browser, Forms, Outline, browser

SECTIONS = ("", "/members", "/tokens", "/shares", "/aliases", "/suites", "/alerts", "/deleted", "/audit")


@pytest.fixture
def operator(house: House) -> Administrator:
    return Administrator(browser(house, house.operator))


def acts(project: Project) -> list[dict[str, Any]]:
    return project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]


def secret_in(page: str) -> str:
    return re.search(r"rgs_\w{8}_\w{36}", page)[0]


def window(of: Browser) -> Browser:
    """Another window of the same browser."""
    other = browser(of.house)
    other.client.set_cookie("registry_session", of.client.get_cookie("registry_session").value)
    return other


def test_settings_are_for_administrators_as_in_the_api_and_kept_by_nobody(
    house: House, project: Project, page: str, visitor: Browser, admin: Administrator, operator: Administrator
) -> None:
    reader, writer = (browser(house, project.tokens[role]) for role in ("reader", "writer"))
    others = browser(house, house.make_project().tokens["admin"])
    for section in SECTIONS:
        for one, status in ((visitor, 401), (reader, 403), (writer, 403), (others, 404), (operator.browser, 200)):
            one.read(f"{page}{section}", status)
    for path in ("/settings/members", "/settings/tokens", "/settings/audit"):
        for one, status in ((visitor, 401), (admin.browser, 403), (operator.browser, 200)):
            one.read(path, status)
    for path in (*(f"{page}{section}" for section in SECTIONS), "/account"):
        answer = admin.browser.get(path)
        assert answer.headers["Cache-Control"] == "no-store"
        assert "ETag" not in answer.headers
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    # The head leads administrators to them, and nobody else.
    for one, seen in ((reader, False), (writer, False), (admin.browser, True)):
        assert (page in one.read(f"/projects/{project.slug}").links()) is seen
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
    told = f"Slug of the project must be {slug} for the project to be deleted."
    assert (wrong.status_code, Forms(wrong.text).faults) == (422, {"confirm": told})
    assert operator.send(page, f"{page}/delete", confirm=slug).headers["Location"] == "/settings"
    assert house.call("GET", f"projects/{slug}", token=house.operator).status_code == 404
    assert operator.send("/settings", f"/settings/restore/{slug}").headers["Location"] == page
    assert house.call("GET", f"projects/{slug}", token=house.operator).status_code == 200


def test_a_token_is_shown_once_and_stands_in_no_address_no_cache_and_no_line_of_the_log(
    project: Project, admin: Administrator, page: str
) -> None:
    with capture_logs() as lines:
        made = admin.send(f"{page}/tokens", name="nightly", role="reader", days="7")
        shown = made.headers["Location"]
        first = admin.browser.get(shown)
    assert made.status_code == 303
    assert "rgs_" not in shown + made.text
    secret = secret_in(first.text)
    assert shown in str(lines)
    assert secret not in str(lines)
    assert admin.browser.client.get_cookie("registry_session").value not in str(lines)
    assert first.headers["Cache-Control"] == "no-store"
    assert project.house.call("GET", "whoami", token=secret).get_json()["role"] == "reader"
    assert "rgs_" not in admin.browser.get(shown).text
    listed = admin.browser.get(f"{page}/tokens").text
    assert "nightly" in listed
    assert "rgs_" not in listed
    [created] = [one for one in acts(project) if one["act"] == "token.created"]
    assert created["token_id"] == project.call("GET", "whoami", "admin").get_json()["id"]
    assert created["detail"]["name"] == "nightly"
    # A cookie that somebody else has set is not shown as the token that was made.
    admin.browser.client.set_cookie("registry_secret", project.house.operator, path=shown)
    assert project.house.operator not in admin.browser.get(shown).text


def test_a_token_is_revoked_and_ends_its_sessions_but_nobody_revokes_their_own(
    project: Project, admin: Administrator, page: str
) -> None:
    reader, listed = browser(project.house, project.tokens["reader"]), f"{page}/tokens"
    identity, mine = (project.call("GET", "whoami", role).get_json()["id"] for role in ("reader", "admin"))
    assert admin.send(listed, f"{listed}/{identity}/revoke").status_code == 303
    assert project.get("whoami").status_code == 401
    assert reader.get(f"/projects/{project.slug}").status_code == 401
    assert f"{mine}/revoke" not in admin.browser.get(listed).text
    refused = admin.browser.post(f"{listed}/{mine}/revoke", admin.open(listed).forms[listed])
    assert refused.status_code == 409
    assert "Sign in with another" in refused.text


def test_a_share_is_made_from_the_address_of_a_page_copied_and_revoked(
    project: Project, admin: Administrator, page: str, visitor: Browser
) -> None:
    grid, listed = f"/grids/{project.published()['id']}", f"{page}/shares"
    assert admin.send(listed, path=f"http://localhost{grid}", days="2").status_code == 303
    link = re.search(rf"{grid}\?share=[\w.-]+", admin.browser.get(listed).text)[0]
    assert visitor.get(link).status_code == 200
    [revoke] = [path for path in admin.open(listed).forms if path.endswith("/revoke")]
    assert admin.send(listed, revoke).status_code == 303
    assert visitor.get(link).status_code == 401
    for path in (f"/grids/{uuid.uuid4()}", "grids", "/projects/demo", "https://elsewhere.example/projects", "/nowhere"):
        refused = admin.send(listed, path=path, days="2")
        assert (refused.status_code, list(Forms(refused.text).faults)) == (422, ["path"]), path
    assert f"it begins with /projects/{project.slug}, or with /grids/" in refused.text


def test_a_ranking_is_shared_from_its_page_with_its_query_as_it_stands(
    project: Project, admin: Administrator, page: str, visitor: Browser
) -> None:
    for model, value in (("R1 & Qwen", 9.0), ("Llamaß", 5.0)):
        project.published(model=model, axes=[], values=value, trials=None)
    ranking = f"/projects/{project.slug}/rankings"
    query = "experiment=type-by-length&metric=accuracy&model=R1+%26+Qwen&model=Llama%C3%9F"
    led, again = admin.browser.computed(f"{ranking}?{query}&theme=dark").links("/settings/shares?path=")
    assert led == again, "beside what is to be copied, and in it"
    # From the overview to the link: rank, make a link, create it.
    [rank, _] = admin.browser.read(f"/projects/{project.slug}").links("view=ranking")
    [first, _] = admin.browser.computed(rank).links("/settings/shares?path=")
    assert f"{page}/shares" in admin.open(first).forms
    form = admin.open(led).forms[f"{page}/shares"]
    made = admin.browser.post(f"{page}/shares", form)
    [link] = [given["value"] for _, given in admin.browser.read(made.headers["Location"]).attributes
              if given.get("id") == "made"]  # fmt: skip
    path = str(link).removeprefix(project.house.settings.url)
    assert path.startswith(f"{ranking}?{query}&share=")
    seen = visitor.read(path)
    assert "R1 & Qwen" in seen.text
    assert "Llamaß" in seen.text
    # It opens the path with other queries too, as the form says, and nothing beside it.
    share = path.rpartition("share=")[2]
    assert visitor.get(f"{ranking}?share={share}").status_code in (200, 303)
    assert visitor.get(f"/projects/{project.slug}?share={share}").status_code == 401
    # Who cannot make one is told who can.
    told = browser(project.house, project.tokens["reader"]).read(f"{ranking}?{query}")
    assert "An administrator of the project can make a link" in told.text
    assert not told.links("/settings")


def test_a_grid_is_deleted_from_its_page_after_a_question_and_restored(
    project: Project, admin: Administrator, page: str
) -> None:
    grid = project.published()["id"]
    asking, listed = f"{page}/deleted?grid={grid}", f"{page}/deleted"
    for role in ROLES:
        seen = browser(project.house, project.tokens[role]).read(f"/grids/{grid}").links()
        assert (asking in seen) is (role == "admin")
    delete = f"{listed}/{grid}/delete"
    assert project.get(f"grids/{grid}").status_code == 200
    assert admin.send(asking, delete).headers["Location"] == listed
    assert project.get(f"grids/{grid}").status_code == 404
    assert delete not in admin.open(asking).forms
    assert admin.send(listed, f"{listed}/{grid}/restore").status_code == 303
    assert project.get(f"grids/{grid}").status_code == 200
    assert [one["act"] for one in acts(project)][:2] == ["grid.restored", "grid.deleted"]


def test_a_grid_that_changed_since_the_question_is_not_deleted(
    project: Project, admin: Administrator, page: str, house: House
) -> None:
    grid = project.published()["id"]
    delete = f"{page}/deleted/{grid}/delete"
    form = admin.open(f"{page}/deleted?grid={grid}").forms[delete]
    project.published(values=[[1, 2, 3], [4, 5, 6]])
    refused = admin.browser.post(delete, form)
    assert (refused.status_code, "The grid is at revision 2, not 1" in refused.text) == (412, True)
    other = house.make_project()
    theirs, home = Administrator(browser(house, other.tokens["admin"])), f"/projects/{other.slug}/settings"
    assert f"{home}/deleted/{grid}/delete" not in theirs.open(f"{home}/deleted?grid={grid}").forms
    forged = theirs.open(home).forms[home] | {"revision": "2"}
    assert theirs.browser.post(f"{home}/deleted/{grid}/delete", forged).status_code == 404
    assert project.get(f"grids/{grid}").status_code == 200


def test_the_account_says_who_is_signed_in_until_when_and_what_they_may_do(project: Project, visitor: Browser) -> None:
    told = {}
    for role in ROLES:
        one = browser(project.house, project.tokens[role])
        told[role] = one.read("/account").text
        if role != "admin":
            refused = one.read("/settings", 403)
            assert "you administer no project" in refused.text
            assert "/account" in refused.links()
    assert f"{project.slug} reader read " in told["reader"]
    assert "publish" not in told["reader"]
    assert "publish, describe and delete with this token" in told["writer"]
    assert "settings" not in told["writer"]
    assert "; settings" in told["admin"]
    assert all(word in told["admin"] for word in ("with the token of this name", project.slug, "admin", "until"))
    visitor.read("/account", 401)


def test_names_that_look_alike_are_joined_in_one_click_and_parted_again(
    project: Project, admin: Administrator, page: str
) -> None:
    for benchmark, model in (("AIME24", "a"), ("AIME'24", "a"), ("AIME'24", "b")):
        project.published(benchmark=benchmark, model=model)
    listed = f"{page}/aliases"
    first = re.search(r"<li>.*?</form>", admin.browser.get(listed).text, re.DOTALL)[0]
    suggested = Forms(first).forms[listed]
    assert (suggested["kind"], suggested["alias"], suggested["name"]) == ("benchmark", "AIME24", "AIME'24")
    assert admin.browser.post(listed, suggested).status_code == 303
    [alias] = project.get(f"projects/{project.slug}/aliases").get_json()["items"]
    assert (alias["alias"], alias["name"]) == ("AIME24", "AIME'24")
    assert "look alike" not in admin.browser.get(listed).text
    assert admin.send(listed, f"{listed}/{alias['id']}/delete").status_code == 303
    assert "look alike" in admin.browser.get(listed).text


def test_a_suite_is_made_changed_and_deleted(project: Project, admin: Administrator, page: str) -> None:
    listed, path = f"{page}/suites", f"projects/{project.slug}/suites/maths"
    assert admin.send(listed, name="maths", benchmarks="AIME'24\r\n\r\n GSM8K \r\n").status_code == 303
    assert project.get(path).get_json()["benchmarks"] == ["AIME'24", "GSM8K"]
    filled = admin.open(f"{listed}?suite=maths").forms[listed]
    assert (filled["name"], filled["benchmarks"]) == ("maths", "AIME'24\nGSM8K")
    assert admin.browser.post(listed, filled | {"benchmarks": "GSM8K"}).status_code == 303
    assert project.get(path).get_json()["benchmarks"] == ["GSM8K"]
    assert admin.send(listed, f"{listed}/delete").status_code == 303
    assert project.get(path).status_code == 404
    too_long = admin.open(listed).forms[listed] | {"name": "s", "benchmarks": "x" * 3_000_000}
    assert admin.browser.post(listed, too_long).status_code == 413


def test_deleted_grids_come_in_pages_the_last_deleted_first_and_say_who_deleted_them(
    project: Project, admin: Administrator, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.pages.administration.deleted.ROWS", 2)
    ids = {name: project.published(model=name)["id"] for name in ("one", "two", "three", "four", "five")}
    listed = f"{page}/deleted"
    assert not re.search(r"<bdi>(one|two|three|four|five)</bdi>", admin.browser.get(listed).text)
    order = ["four", "one", "five", "two", "three"]
    for name in order:
        project.call("DELETE", f"grids/{ids[name]}")
    pages = list(admin.browser.follow(listed))
    assert [text_ for shown in pages for text_ in shown.texts if text_ in ids] == order[::-1]
    assert " writer " in pages[0].text
    other = project.house.make_project().published()["id"]
    form = Forms(admin.browser.get(listed).text).named["act"]
    for foreign in (other, uuid.uuid4()):
        assert admin.browser.post(f"{listed}/{foreign}/restore", form).status_code == 404


def test_the_audit_log_is_filtered_by_act_actor_and_day(project: Project, admin: Administrator, page: str) -> None:
    grid = project.published()["id"]
    project.call("DELETE", f"grids/{grid}")
    project.call("POST", f"grids/{grid}/restore", "admin")

    def rows(query: str) -> list[str]:
        listed = admin.browser.get(f"{page}/audit?{query}").text
        return re.findall(r'<td data-head="Act">((?:grid|token|session)\.\w+)</td>', listed)

    assert rows("") == ["grid.restored", "grid.deleted", "session.created"]
    assert rows("act=grid.deleted") == ["grid.deleted"]
    assert rows("actor=WRIT") == ["grid.deleted"]
    assert rows("actor=%25") == []
    assert rows("day=2001-01-01") == []
    with project.house.database.reading() as connection:
        today = connection.scalar(text("SELECT current_date"))
    assert len(rows(f"day={today}")) == 3
    for wrong in ("act=x", "day=tomorrow", "day=2026-13-01", "actor=%00", "after=x"):
        admin.browser.read(f"{page}/audit?{wrong}", 422)


FAULTS = [
    ("/tokens", {"name": "", "role": "reader", "days": "7"}, "name", "Name"),
    ("/tokens", {"name": "<script>alert(1)</script>", "role": "king", "days": "7"}, "role", "Role"),
    ("/tokens", {"name": "x" * 201, "role": "reader", "days": "7"}, "name", "Name"),
    ("/tokens", {"name": "kept", "role": "reader", "days": "0"}, "days", "Days until it expires"),
    ("/tokens", {"name": "kept", "role": "reader", "days": "many"}, "days", "Days until it expires"),
    ("/aliases", {"kind": "model", "alias": "same", "name": "same"}, "alias", "Alias"),
    ("/suites", {"name": "kept", "benchmarks": ""}, "benchmarks", "Benchmarks"),
    ("/members", {"kind": "user", "name": "a\x01b", "role": "reader"}, "name", "Name"),
    ("/shares", {"path": "/projects/none", "days": "30"}, "path", "Page"),
    ("", {"name": "", "visibility": "open"}, "visibility", "Who may read"),
]


def test_a_form_says_its_error_at_its_field_and_keeps_what_was_typed(
    project: Project, admin: Administrator, page: str, subtests: pytest.Subtests
) -> None:
    before = len(acts(project))
    for section, typed, field, told in FAULTS:
        with subtests.test(msg=f"{section} {typed}"):
            answer = admin.send(f"{page}{section}", **typed)
            assert answer.status_code == 422
            assert Outline(answer.text).faults == []
            again = Forms(answer.text)
            assert again.faults[field].startswith((told, "A name is not"))
            assert f'said at its field: <a href="#{field}">{told}</a>.' in answer.text
            kept = {name: given for name, given in typed.items() if name not in ("role", "visibility")}
            assert again.forms[f"{page}{section}"].items() >= {k: v for k, v in kept.items() if "\x01" not in v}.items()
            assert "<script>alert" not in answer.text
            assert len(acts(project)) == before


def test_a_taken_name_is_a_conflict_at_its_field(
    project: Project, admin: Administrator, page: str, operator: Administrator
) -> None:
    taken = operator.send("/settings", slug=project.slug, name="x", visibility="private")
    assert (taken.status_code, list(Forms(taken.text).faults)) == (409, ["slug"])
    for status in (303, 409):
        answer = admin.send(f"{page}/aliases", kind="model", alias="a", name="b")
        assert answer.status_code == status
    assert list(Forms(answer.text).faults) == ["alias"]


def test_a_form_that_is_sent_twice_is_carried_out_once(project: Project, admin: Administrator, page: str) -> None:
    shares = f"{page}/shares"
    form = admin.open(shares).forms[shares]
    led = [admin.browser.post(shares, form).headers["Location"] for _ in range(2)]
    assert led[0] == led[1]
    assert len(project.call("GET", f"projects/{project.slug}/shares", "admin").get_json()["items"]) == 1
    grid = project.published()["id"]
    project.call("DELETE", f"grids/{grid}")
    restore = f"{page}/deleted/{grid}/restore"
    form = admin.open(f"{page}/deleted").forms[restore]
    assert [admin.browser.post(restore, form).status_code for _ in range(2)] == [303, 303]
    assert [one["act"] for one in acts(project)].count("grid.restored") == 1
    # A form of a token that comes back later makes no second one.
    listed = f"{page}/tokens"
    form = admin.open(listed).forms[listed] | {"name": "late", "role": "writer"}
    first = admin.browser.post(listed, form).headers["Location"]
    made = tokens.update().where(tokens.c.id == first.rpartition("/")[2])
    with project.house.database.transaction() as connection:
        connection.execute(made.values(created_at=func.now() - text("'2 min'::interval")))
    assert admin.browser.post(listed, form).headers["Location"] == first
    assert "Set-Cookie" not in admin.browser.post(listed, form).headers


def test_a_double_click_makes_one_token_and_shows_the_secret_of_the_one_that_lives(
    project: Project, admin: Administrator, page: str
) -> None:
    listed = f"{page}/tokens"
    form = admin.open(listed).forms[listed] | {"name": "twice", "role": "writer"}
    copies = [window(admin.browser) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda one: one.post(listed, form), copies))
    assert {one.status_code for one in answers} == {303}
    found = project.call("GET", f"projects/{project.slug}/tokens", "admin").get_json()["items"]
    [alive] = [one["id"] for one in found if one["name"] == "twice"]
    [place] = [number for number, one in enumerate(answers) if one.headers["Location"].endswith(alive)]
    secret = secret_in(copies[place].get(answers[place].headers["Location"]).text)
    assert project.house.call("GET", "whoami", token=secret).get_json()["id"] == alive


def test_two_administrators_who_change_a_project_at_once_do_not_overwrite_each_other(
    project: Project, page: str
) -> None:
    first, second = (Administrator(browser(project.house, project.tokens["admin"])) for _ in range(2))
    forms = [one.open(page).forms[page] for one in (first, second)]
    assert first.browser.post(page, forms[0] | {"name": "first"}).status_code == 303
    late = second.browser.post(page, forms[1] | {"name": "second"})
    assert late.status_code == 412
    assert Forms(late.text).forms[page]["name"] == "second"
    assert project.get(f"projects/{project.slug}").get_json()["name"] == "first"


def test_a_form_from_another_site_or_with_the_key_of_another_session_does_nothing(
    project: Project, admin: Administrator, page: str
) -> None:
    listed = f"{page}/tokens"
    form = admin.open(listed).forms[listed] | {"name": "stolen"}
    for headers in (
        {"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}, {"Origin": "null"}, {"X-Nothing": "said"},
    ):  # fmt: skip
        assert admin.browser.client.post(listed, data=form, headers=headers).status_code == 403, headers
    other = Administrator(browser(project.house, project.tokens["admin"])).open(listed).forms[listed]["_key"]
    for key in (other, "", "x", "é"):
        answer = admin.browser.post(listed, form | {"_key": key})
        assert answer.status_code == 403
        assert "name=stolen" in answer.text  # the way back keeps what was typed
    without = {name: value for name, value in form.items() if name != "_form"}
    assert admin.browser.post(listed, without).status_code == 422
    assert "stolen" not in admin.browser.read(listed).text


def test_a_lesser_session_does_nothing_with_an_administrators_form(
    project: Project, admin: Administrator, page: str
) -> None:
    lesser = [browser(project.house, project.tokens[role]) for role in ("reader", "writer")]
    before = len(acts(project))
    for section in ("", "/members", "/tokens", "/shares", "/aliases", "/suites"):
        for path, form in admin.open(f"{page}{section}").forms.items():
            for one in lesser if path.startswith(page) else ():
                answer = one.post(path, form | {"_key": key_of(one), "_form": str(uuid.uuid4())})
                assert answer.status_code == 403, path
    assert len(acts(project)) == before


def key_of(who: Browser) -> str:
    """The key of a session's forms, as the server would write it: a lesser one sees no form."""
    with who.house.database.reading() as connection:
        secret = who.client.get_cookie("registry_session").value
        return form_key(connection, resume_session(connection, secret))


def test_a_session_that_ends_while_a_form_is_filled_in_loses_nothing(
    project: Project, admin: Administrator, page: str
) -> None:
    listed = f"{page}/tokens"
    typed = {"name": "ünsaved & kept", "role": "admin", "days": "12"}
    form = admin.open(listed).forms[listed] | typed
    window(admin.browser).post("/sign-out", {})
    refused = admin.browser.post(listed, form)
    assert refused.status_code == 401
    assert "what you typed is in the form then" in refused.text
    back = Forms(refused.text).forms["/sign-in"]["back"]
    led = admin.browser.post("/sign-in", {"token": project.tokens["admin"], "back": back}).headers["Location"]
    again = admin.open(led).forms[listed]
    assert {name: again[name] for name in typed} == typed
    assert admin.browser.post(listed, again).status_code == 303


def test_lists_of_thousands_come_in_small_pages(project: Project, admin: Administrator, page: str) -> None:
    count, common = 5_000, {"project_id": project.id}
    with project.house.database.transaction() as connection:
        connection.execute(
            insert(tokens).values(secret_hash=b"x", expires_at=func.now(), role="reader"),
            [common | {"id": new_id(), "name": f"token {n}", "public_id": uuid.uuid4().hex[:12]} for n in range(count)],
        )
        connection.execute(
            insert(aliases).values(kind="model"),
            [common | {"id": new_id(), "alias": f"a{n}", "name": f"n{n}"} for n in range(count)],
        )
    for section, name in (("tokens", "token"), ("aliases", "a")):
        path, seen = f"{page}/{section}", 0
        for _ in range(3):
            listed = admin.browser.get(path).text
            assert len(listed.encode()) < 60_000
            seen += len(re.findall(rf'<th scope="row"><bdi>{name} ?\d+</bdi>', listed))
            path = Outline(listed).following
        assert seen in (147, 150)  # the project's own three tokens come first


def test_names_are_text_whatever_they_hold(project: Project, admin: Administrator, page: str) -> None:
    evil = "\"><img src=x onerror=alert(1)>'"
    project.published(model=evil, benchmark=evil)
    assert admin.send(page, name=evil, visibility="private").status_code == 303
    admin.send(f"{page}/tokens", name=evil, role="reader", days="3")
    admin.send(f"{page}/aliases", kind="model", alias=evil, name="x")
    admin.send(f"{page}/suites", name=evil, benchmarks=evil)
    admin.send(f"{page}/members", kind="group", name=evil, role="reader")
    for section in SECTIONS:
        shown = admin.browser.read(f"{page}{section}")  # reads strictly: no attribute of an event, no inline script
        assert not shown.all("img")


def test_an_operators_tokens_open_every_project(house: House, operator: Administrator) -> None:
    made = operator.send("/settings/tokens", name="for all", role="reader", days="1")
    secret = secret_in(operator.browser.get(made.headers["Location"]).text)
    assert house.call("GET", "whoami", token=secret).get_json()["project"] is None
    named = select(tokens.c.id).where(tokens.c.project_id.is_(None), tokens.c.name == "for all")
    with house.database.reading() as connection:
        [(found,)] = connection.execute(named)
    assert operator.send("/settings/tokens", f"/settings/tokens/{found}/revoke").status_code == 303
    assert house.call("GET", "whoami", token=secret).status_code == 401
