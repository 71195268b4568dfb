"""The pages of alerts, baselines and webhooks, and the forms that set, answer and test them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select, text, update
from werkzeug.test import TestResponse

from registry.storage.tables import baselines, events, gate_verdicts, stored_revisions
from tests.house import Project
from tests.pages.conftest import Administrator, Forms, browser
from tests.workers.test_gates import baseline, put
from tests.workers.webhooks.conftest import Hooks, hooks, inner_house, receiver
from tests.workers.webhooks.receiver import Receiver, receiving


@pytest.fixture
def page(page: str) -> str:
    """The path of the settings of gates."""
    return f"{page}/alerts"


def previewed(admin: Administrator, page: str, **typed: str) -> TestResponse:
    """The preview that its form leads to."""
    return admin.browser.opened(admin.send(page, f"{page}/preview", **typed).headers["Location"])


def test_alerts_are_listed_told_by_their_baseline_and_answered_once(project: Project, admin: Administrator) -> None:
    home = f"/projects/{project.slug}"
    reader = browser(project.house, project.tokens["reader"])
    assert "There is no baseline yet" in reader.read(f"{home}/alerts").text
    put(project, "A", 70.0)
    baseline(project, margin=3.0)
    for model, value in (("B", 60.0), ("C", 50.0), ("D", 80.0)):
        put(project, model, value)
    project.house.compute()
    ranking = f"{home}/results?view=ranking&experiment=e&metric=accuracy"
    assert not reader.computed(ranking).links("/settings/alerts")
    [offered] = admin.browser.computed(ranking).links("/settings/alerts")
    filled = admin.open(offered).forms[f"{home}/settings/alerts"]
    assert [filled[one] for one in ("experiment", "metric", "model")] == ["e", "accuracy", "D"]
    for model in "AB":
        put(project, model, [70.0, 60.0, 50.0, 40.0], experiment="cut")
    narrowed = admin.browser.computed(f"{ranking}&benchmark=X&at.Length=1".replace("=e&", "=cut&"))
    assert "It judges all levels, not Length 1 alone." in narrowed.text
    [offered] = narrowed.links("/settings/alerts")
    assert admin.open(offered).forms[f"{home}/settings/alerts"]["benchmarks"] == "X"
    listed = reader.read(f"{home}/alerts")
    assert "B is worse than the baseline main by more than 3 points" in listed.text
    assert f"{home}/baselines/main" in listed.links()
    assert not listed.links("/settings/alerts"), "readers answer nothing"
    # A sentence leads to the comparison behind it, what fails to the grids of the contender.
    [compared] = listed.links("contender_model=B&")
    assert "B against A on e by accuracy" in reader.computed(compared).text
    assert "baseline_model=A" in compared
    [grids] = listed.links("view=heatmaps&experiment=e&metric=accuracy&model=B")
    assert len(reader.computed(grids).links("/grids/")) >= 1
    assert f"{home}/alerts" in reader.read(home).links()
    policy = reader.read(f"{home}/baselines/main").text
    for told in (
        "A contender passes when it is shown not to be worse by more than 3 points, over all benchmarks.",
        "A contender with the same scores and trials cannot be shown to pass. At equal scores",
        "D is better than the baseline main: +10.00 (90 % interval 6.5",
    ):
        assert told in policy, told
    # What fails comes first, the largest loss first, and each sentence stands once.
    order = [policy.index(f"{model} is ") for model in ("C", "B", "D")]
    assert order == sorted(order)
    assert [policy.count(f"{model} is ") for model in ("B", "C", "D")] == [1, 1, 1]
    # A phone shows how all stand at once: the sentences, and the rules of the policy, are folded.
    shown = re.sub(r"<details.*?</details>", "", reader.get(f"{home}/baselines/main").text, flags=re.DOTALL)
    assert all(f'models/{model}"' in shown for model in "BCD")
    for folded in ("is worse than the baseline", "is better than the baseline", "Each one-sided test has the level"):
        assert folded in policy
        assert folded not in shown
    reader.read(f"{home}/baselines/other", 404)

    settings = f"{home}/settings/alerts"
    ids = {one["model"]: one["id"] for one in project.get(f"projects/{project.slug}/alerts").get_json()["items"]}
    asked = {model: f"{settings}?alert={one}" for model, one in ids.items()}
    assert asked["B"] in admin.browser.read(f"{home}/alerts").links()
    answered = admin.send(asked["B"], f"{settings}/{ids['B']}", answer="noise", note="one bad node")
    assert answered.status_code == 303
    found = project.get(f"projects/{project.slug}/alerts/{ids['B']}").get_json()
    assert (found["state"], found["reason"], found["note"]) == ("dismissed", "noise", "one bad node")
    assert "one bad node" in admin.browser.get(f"{home}/baselines/main").text
    assert "1 dismissed alert still fails." in admin.browser.get(f"{home}/alerts").text
    late = admin.send(asked["C"], f"{settings}/{ids['C']}", answer="acknowledged", version="7")
    assert late.status_code == 412
    assert "Of 1 answered alerts, 0 were right: 0 %" in admin.browser.get(f"{home}/baselines/main").text


def test_a_baseline_says_its_policy_in_the_unit_of_its_metric_and_what_its_contenders_need(project: Project) -> None:
    """Who has the scores of the baseline does not improve on it by 10, nor reach a floor above it."""
    latency = {"name": "latency", "unit": "ms", "direction": "lower", "lower": 0, "upper": None}
    put(project, "A", 60.0, trials=None, stderr=1.0, metric=latency)
    policies: dict[str, tuple[dict[str, object], str]] = {
        "by-1": ({"margin": 1}, "not to be worse by more than 1 ms, over all benchmarks."),
        "by-5": (
            {"margin": 5},
            "A contender with the same scores and trials can pass. At equal scores a loss of more than",
        ),
        "floor": ({"kind": "floor", "margin": 50}, "to reach 50 ms (lower is better), over all benchmarks."),
        "better": (
            {"kind": "improves", "margin": 10},
            "A contender with good enough scores and the same trials can pass.",
        ),
    }
    for name, (policy, _) in policies.items():
        baseline(project, {"metric": "latency"}, name, **policy)
    put(project, "B", 60.0, trials=None, stderr=1.0, metric=latency)
    project.house.compute()
    reader = browser(project.house, project.tokens["reader"])
    read = {name: reader.read(f"/projects/{project.slug}/baselines/{name}").text for name in policies}
    for name, (_, told) in policies.items():
        assert told in read[name]
    assert "At equal scores a loss of more than 2.33 ms is excluded." in read["by-5"]
    assert "Gap: contender less the floor" in read["floor"]
    assert "Solid line: the floor." in read["floor"]
    assert "good enough scores" in read["floor"]
    assert "Gap: contender less baseline" in read["better"]
    put(project, "A", 60.0)
    baseline(project, margin=1)
    assert "by more than 1 point, over" in reader.read(f"/projects/{project.slug}/baselines/main").text


def test_of_many_benchmarks_that_fail_the_first_are_named_and_the_others_counted(project: Project) -> None:
    for model, value in (("A", 70.0), ("B", 40.0)):
        for number in range(8):
            put(project, model, value, benchmark=f"benchmark {number}")
        if model == "A":
            baseline(project, margin=3.0, per="benchmark")
    project.house.compute()
    path = f"/projects/{project.slug}/baselines/main"
    page = browser(project.house, project.tokens["reader"]).read(path)
    assert re.search(r"benchmark \d, and 3 more", page.text)
    assert "8 do not" in page.text
    for view in ("compare", "heatmaps"):
        assert len(page.links(f"view={view}&experiment=e&metric=accuracy&benchmark=benchmark+")) == 5


def test_a_baseline_is_set_changed_and_deleted_by_a_form(project: Project, admin: Administrator, page: str) -> None:
    for model, value in (("A", 70.0), ("B", 60.0), ("C", 70.0)):
        put(project, model, value)
    home, path = f"/projects/{project.slug}", page
    about = {"name": "best", "experiment": "e", "metric": "accuracy", "model": "A", "margin": "2.5"}
    made = admin.send(page, path, **about)
    assert (made.status_code, made.headers["Location"]) == (303, f"{home}/baselines/best")
    assert "Contenders are being judged." in admin.browser.read(made.headers["Location"]).text
    set_ = project.get(f"projects/{project.slug}/baselines/best").get_json()
    assert (set_["subject"], set_["policy"]["kind"], set_["policy"]["margin"]) == ({"model": "A"}, "non_inferior", 2.5)
    project.house.compute()
    assert (
        "B is worse than the baseline best by more than 2.5 points" in admin.browser.read(made.headers["Location"]).text
    )
    gates = admin.browser.read(f"{home}/alerts").text
    assert "No alert is open" in gates, "B was there before the baseline"
    assert "contenders: 1 fail, 0 pass, 1 neither" in " ".join(gates.split())
    # What the form does not have stays: the level of the tests.
    baseline(project, name="best", margin=2.5, alpha=0.01)
    assert admin.send(f"{page}?baseline=best", path, per="benchmark").status_code == 303
    policy = project.get(f"projects/{project.slug}/baselines/best").get_json()["policy"]
    assert (policy["alpha"], policy["per"], policy["margin"]) == (0.01, "benchmark", 2.5)
    for wrong, field in (
        ({"model": "Z"}, "model"),
        ({"margin": "-1"}, "margin"),
        ({"margin": "x"}, "margin"),
        ({"name": "a b"}, "name"),
        ({"name": "best"}, "name"),  # a new one takes nobody's place
    ):
        refused = admin.send(page, path, **about | {"name": "another"} | wrong)
        assert (refused.status_code, list(Forms(refused.text).faults)) == (422, [field]), wrong
    assert admin.send(page, f"{path}/delete").status_code == 303
    assert project.get(f"projects/{project.slug}/baselines/best").status_code == 404


def test_a_form_says_which_alerts_another_definition_closes_and_why_they_were_is_news(
    project: Project, admin: Administrator, page: str
) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)
    put(project, "B", 60.0)
    project.house.compute()
    assert "1 alert of main is open. Another definition closes it" in admin.browser.read(f"{page}?baseline=main").text
    assert "Another definition" not in admin.browser.read(page).text
    assert admin.send(f"{page}?baseline=main", page, margin="40").status_code == 303
    project.house.compute()
    told = "An alert of the baseline main was resolved for B ( the baseline was replaced )"
    assert told in admin.browser.read(f"/projects/{project.slug}/events").text


def test_a_baseline_is_set_on_some_benchmarks_or_those_of_a_suite(
    project: Project, admin: Administrator, page: str
) -> None:
    for benchmark in ("X", "Y", "Z"):
        put(project, "A", 70.0, benchmark)
    for name, members in (("whole", ["X", "Y"]), ("parts", ["X@Length=1"])):
        made = project.call("PUT", f"projects/{project.slug}/suites/{name}", json={"benchmarks": members})
        assert made.status_code == 201, made.text
    about = {"name": "some", "experiment": "e", "metric": "accuracy", "model": "A"}

    def benchmarks() -> list[str]:
        found: list[str] = project.get(f"projects/{project.slug}/baselines/some").get_json()["benchmarks"]
        return found

    assert admin.send(page, **about, benchmarks="Z\n").status_code == 303
    assert benchmarks() == ["Z"]
    assert admin.send(f"{page}?baseline=some", page, suite="whole").status_code == 303
    assert sorted(benchmarks()) == ["X", "Y", "Z"]
    assert "over X, Y and Z." in admin.browser.read(f"/projects/{project.slug}/baselines/some").text
    assert admin.open(f"{page}?baseline=some").forms[page]["benchmarks"].split("\n") == benchmarks()
    assert admin.send(f"{page}?baseline=some", page, benchmarks="").status_code == 303
    assert benchmarks() == []
    # One that has exactly the benchmarks of a suite is told, and changed, by the suite.
    assert admin.send(f"{page}?baseline=some", page, suite="whole").status_code == 303
    of_suite = "the 2 benchmarks of the suite whole"
    assert f"over {of_suite}." in admin.browser.read(f"/projects/{project.slug}/baselines/some").text
    assert f"A, on {of_suite}" in admin.browser.read(f"/projects/{project.slug}/alerts").text
    form = admin.open(f"{page}?baseline=some").forms[page]
    assert (form["suite"], form["benchmarks"].strip()) == ("whole", "")
    for wrong, field in (({"suite": "parts"}, "suite"), ({"benchmarks": "X\nnowhere"}, "benchmarks")):
        refused = admin.send(page, page, **about | {"name": "another"} | wrong)
        assert (refused.status_code, list(Forms(refused.text).faults)) == (422, [field]), wrong


def test_a_preview_says_what_a_baseline_would_have_said_of_the_last_30_days_and_stores_nothing(
    project: Project, admin: Administrator, page: str
) -> None:
    for model, value in (("A", 70.0), ("Worse", 60.0), ("Better", 80.0), ("Close", 69.0)):
        put(project, model, value)
    old = put(project, "Old", 10.0)["id"]
    long_ago = update(stored_revisions).where(stored_revisions.c.grid_id == old)
    with project.house.database.transaction() as connection:
        connection.execute(text("SET LOCAL session_replication_role = replica"))
        connection.execute(long_ago.values(created_at=datetime.now(UTC) - timedelta(days=31)))
    counts = [select(func.count()).select_from(table) for table in (baselines, gate_verdicts, events)]

    def stored() -> list[int | None]:
        with project.house.database.reading() as connection:
            return [connection.scalar(one) for one in counts]

    project.house.compute()
    before = stored()
    about = {"name": "best", "experiment": "e", "metric": "accuracy", "model": "A"}
    asked = admin.send(page, f"{page}/preview", **about, margin="3").headers["Location"]
    assert asked.startswith(f"{page}/preview?name=best")
    assert "_key" not in asked
    wait = previewed(admin, page, **about, margin="3")
    assert (wait.status_code, "being computed 3. " in " ".join(wait.text.split())) == (200, True)
    project.house.compute()
    told = " ".join(previewed(admin, page, **about, margin="3").text.split())
    assert "Of the 3 contenders last published within 30 days: fails 1, not shown 1, passes 1." in told
    assert "Worse is worse than the baseline best by more than 3 points" in told
    assert "Old is" not in told
    order = [told.index(f">{name}</a></th>") for name in ("Worse", "Close", "Better")]
    assert order == sorted(order)
    assert "Of the 3 contenders" in admin.browser.read(asked).text, "one comes back to it by its address"
    # What was typed stands in the form, and is saved from there.
    assert Forms(told).forms[page]["margin"] == "3"
    previewed(admin, page, **about, margin="20")
    project.house.compute()
    assert "days: passes 3." in " ".join(previewed(admin, page, **about, margin="20").text.split())
    wrong = previewed(admin, page, **about | {"model": "Z"})
    assert (wrong.status_code, list(Forms(wrong.text).faults)) == (422, ["model"])
    # Without a model each contender is judged against the one before; the first has none.
    previewed(admin, page, **about | {"model": ""}, margin="20")
    project.house.compute()
    told = " ".join(previewed(admin, page, **about | {"model": ""}, margin="20").text.split())
    assert "Of the 3 contenders last published within 30 days: passes 3." in told
    assert stored() == before


def test_a_preview_of_nothing_leads_to_its_form_and_one_too_long_for_an_address_is_refused(
    admin: Administrator, page: str
) -> None:
    assert admin.browser.get(f"{page}/preview").headers["Location"] == page
    names = "\n".join(f"benchmark {number}" for number in range(500))
    refused = admin.send(page, f"{page}/preview", name="best", experiment="e", metric="m", benchmarks=names)
    assert (refused.status_code, list(Forms(refused.text).faults)) == (422, ["benchmarks"])
    assert "benchmark 499" in refused.text


def test_a_preview_asks_about_twelve_contenders_and_counts_the_others(
    project: Project, admin: Administrator, page: str
) -> None:
    for number in range(15):
        put(project, f"model {number}", 70.0)
    about = {"name": "best", "experiment": "e", "metric": "accuracy", "model": "model 0"}
    told = " ".join(previewed(admin, page, **about).text.split())
    assert "Of the 12 contenders last published within 30 days: being computed 12. " in told
    assert "2 more were published, and not asked about." in told


def test_a_definition_that_is_sent_after_the_session_is_found_in_the_form_again(
    admin: Administrator, page: str
) -> None:
    form = admin.open(page).forms[page]
    admin.browser.post("/sign-out", {})
    late = admin.browser.post(page, form | {"name": "best", "margin": "7"})
    assert late.status_code == 401
    assert f"{page}?name=best" in late.text.replace("%2F", "/").replace("%3F", "?").replace("%3D", "=")


__all__ = ["hooks", "inner_house", "receiver"]


def test_a_webhook_is_made_and_its_secret_shown_once(hooks: Hooks, receiver: Receiver) -> None:
    settings = f"/projects/{hooks.project.slug}/settings/webhooks"
    admin = Administrator(browser(hooks.project.house, hooks.project.tokens["admin"]))
    assert "There is no webhook yet." in admin.browser.get(settings).text
    only = "model=a\nexperiment = x\nmodel=b"
    made = admin.send(settings, url=receiver.url, types="claim.*\ngrid.published", only=only, description="Ours")
    assert made.status_code == 303
    shown = admin.browser.get(made.headers["Location"]).text
    [secret] = re.findall(r"whsec_[A-Za-z0-9+/]{43}=", shown)
    assert secret not in admin.browser.get(made.headers["Location"]).text
    [webhook] = hooks.call("GET").get_json()["items"]
    assert (webhook["types"], webhook["format"]) == (["claim.*", "grid.published"], "standard")
    assert webhook["filter"] == {"model": ["a", "b"], "experiment": ["x"]}
    assert receiver.url in admin.browser.get(settings).text
    page = f"{settings}/{webhook['id']}"
    assert admin.send(page, f"{page}/rotate").status_code == 303
    [other] = re.findall(r"whsec_[A-Za-z0-9+/]{43}=", admin.browser.get(page).text)
    assert other != secret
    assert admin.send(page, f"{page}/disable").status_code == 303
    assert "It is disabled, and sent nothing." in admin.browser.get(page).text
    assert admin.send(page, f"{page}/enable").status_code == 303
    assert admin.send(page, f"{page}/remove").headers["Location"] == settings
    assert hooks.call("GET").get_json()["items"] == []


def test_what_a_webhook_was_sent_is_shown_and_sent_again(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.write = lambda out: out.write(b"HTTP/1.1 500 No\r\n\r\n<script>alert(1)</script>") and None
    hooks.tell(1)
    hooks.send()
    page = f"/projects/{hooks.project.slug}/settings/webhooks/{webhook['id']}"
    admin = Administrator(browser(hooks.project.house, hooks.project.tokens["admin"]))
    shown = admin.browser.get(page).text
    assert "answered 500" in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    [one] = hooks.deliveries(webhook)
    assert admin.send(page, f"{page}/deliveries/{one['id']}").status_code == 303
    receiver.write = None
    assert admin.send(page, f"{page}/test").status_code == 303
    assert hooks.send() == 2
    assert [one.document["type"] for one in receiver.received[1:]] == ["webhook.test", "grid.published"]


def test_why_a_webhook_could_not_be_reached_is_shown_and_what_none_may_be_is_said_at_its_field(hooks: Hooks) -> None:
    with receiving() as closed:
        webhook = hooks.add(closed.url)
    hooks.tell(1)
    hooks.send()
    settings = f"/projects/{hooks.project.slug}/settings/webhooks"
    admin = Administrator(browser(hooks.project.house, hooks.project.tokens["admin"]))
    assert "unreachable: the connection was refused" in admin.browser.get(f"{settings}/{webhook['id']}").text
    for field, typed, told in (
        ("url", "https://10.0.0.1/", "Send to "), ("types", "*\nclaim.fliped", "Line 2: did you mean "),
        ("types", " ", "Types must have one at least."),
        ("only", "secret=x", "Secret is none of "), ("only", "x", "X is none of "),
    ):  # fmt: skip
        given = {"url": "https://hooks.example.org/", "types": "*", "only": ""} | {field: typed}
        answer = admin.send(settings, **given)
        assert answer.status_code == 422
        assert Forms(answer.text).faults[field].startswith(told)
