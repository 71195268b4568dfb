"""What people ask of the pages, each from `/` in at most three clicks, with nothing typed."""

from __future__ import annotations

import re

import pytest

from tests.pages.conftest import Browser, Demo, browser

RANK = "view=ranking&experiment=window-by-ratio"
QUESTIONS = {
    "the grids of a model": (
        ["/projects/demo/models", "/models/R1-Qwen", "/grids?model=R1-Qwen"],
        "Grids of Five published heatmaps",
    ),
    "two models compared": ([RANK, "view=compare&"], "R1-Qwen is better than R1-Llama"),
    "a heat map with holes": (["/grids/"], "were never measured"),
    "lines with uncertainty": ([RANK, "view=lines&"], "95 % intervals"),
    "what is refuted": (["/projects/demo/claims"], "are contradicted by their own numbers"),
    "what happened": (["/projects/demo/events"], "Activity"),
    "how to embed a page": ([RANK], "BibTeX"),
}
OF_MEMBERS = {
    "a gate": (["/projects/demo/alerts", "/settings/alerts"], "margin"),
    "a token": (["/settings", "/projects/demo/settings", "/settings/tokens"], "Create"),
    "a link for somebody without an account": ([RANK, "/projects/demo/settings", "/settings/shares"], "link"),
}


def follow(reader: Browser, parts: list[str]) -> str:
    """The text of the page to which the first link that holds each part leads."""
    page = reader.read("/")
    for part in parts:
        page = reader.computed(next(one for one in page.links(part)))
    assert len(parts) <= 3
    return page.text


@pytest.mark.parametrize(("parts", "told"), QUESTIONS.values(), ids=QUESTIONS)
def test_a_question_is_answered_within_three_clicks(
    answered: Demo, guest: Browser, parts: list[str], told: str
) -> None:
    assert told in follow(guest, parts)


@pytest.mark.parametrize(("parts", "told"), OF_MEMBERS.values(), ids=OF_MEMBERS)
def test_a_member_gets_within_three_clicks_to(answered: Demo, parts: list[str], told: str) -> None:
    assert told in follow(browser(answered.house, answered.house.operator), parts)


@pytest.mark.parametrize("form", ["svg", "png", "tex"])
def test_a_picture_and_a_table_for_a_paper_are_two_clicks_away(answered: Demo, guest: Browser, form: str) -> None:
    page = guest.computed(guest.read("/").links(RANK)[0])
    [href] = page.links(f"rankings.{form}?")
    assert re.search("<svg|PNG|tabular", guest.get(href).data.decode("latin-1"))
