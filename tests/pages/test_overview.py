"""The overview of a project: what its results amount to, what does not hold, and what is new; and where it stands."""

from __future__ import annotations

from tests.house import House, Project
from tests.pages.conftest import Browser, Demo, browser
from tests.workers.test_gates import baseline, put


def test_each_experiment_with_data_has_its_verdict_and_those_without_come_last(answered: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo")
    told = (
        "R1-Qwen is better than R1-Llama by 2.1 points (95 % interval 0.6 to 3.7) on the 32 of 80 cells",
        "Core Generalization · Qwen-2.5 3B · Baseline : Along Length 5 of 7 series fall",
        "are contradicted by their own numbers",
        "The ranking of window-by-ratio by Pass@1 was computed for the first time",
        "1 experiment has no measured cell yet size-by-progress",
    )
    for words in told:
        assert words in page.text, words
    assert page.text.index(told[0]) < page.text.index(told[-1])
    # AIME24, AIME25 and GPQA D are aliases of three others, so that 17 names are 14 benchmarks.
    assert "3 experiments 5 models 14 benchmarks 18 grids" in page.text
    assert answered.seed0 in page.links()


def test_of_the_only_project_the_front_page_is_the_overview_and_says_what_this_is(own: House) -> None:
    visitor, first = browser(own), own.make_project("public")
    first.published()
    front = visitor.read("/")
    assert "This registry keeps results of experiments as grids" in front.text
    assert f"/projects/{first.slug}/results" in front.links()
    own.make_project("public")
    assert "2 of 2 projects" in visitor.read("/").text


def test_what_fails_a_gate_is_told(project: Project) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)
    put(project, "B", 60.0)
    project.house.compute()
    page = browser(project.house, project.tokens["reader"]).read(f"/projects/{project.slug}")
    assert "What fails a gate B is worse than the baseline main by more than 3 points" in page.text
    assert f"/projects/{project.slug}/alerts" in page.links()


def test_each_part_of_a_project_is_a_link_on_its_pages(answered: Demo, guest: Browser) -> None:
    parts = ("", "/results", "/claims", "/alerts", "/events")
    for path in ("/projects/demo", "/projects/demo/events", answered.seed0):
        assert {f"/projects/demo{part}" for part in parts} <= set(guest.read(path).links()), path
