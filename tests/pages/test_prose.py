"""Descriptions, labels, sources and warnings on pages: shown, safe, and no larger than a page may be."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from registry.pages.prose import is_safe, prose_of
from tests.house import House, Project, publication
from tests.pages.conftest import Browser, Outline

HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(1)> <b style="color:red">b</b>

[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) <javascript:alert(1)>
[e](java&#x0A;script:alert(1)) [f](<java\tscript:alert(1)>) [g](&#106;avascript:alert(1)) [h](file:///etc/passwd)

![tracker](https://elsewhere.example/pixel.png "t") [![inner](https://elsewhere.example/a.png)](https://example.org/)

[x]: javascript:alert(1)
[reference][x] "quoted" & <a href="javascript:alert(1)" onclick="x">a</a>
"""


def html_of(text: str) -> Outline:
    found = prose_of(text)
    outline = Outline(f"{found.shown}{found.folded}")
    assert outline.faults == []
    return outline


@pytest.mark.unit
def test_nothing_in_a_description_runs_or_loads() -> None:
    page = html_of(HOSTILE)
    assert {tag for tag, _ in page.attributes} == {"p", "a"}
    links = [given for tag, given in page.attributes if tag == "a"]
    assert {given["rel"] for given in links} == {"noopener noreferrer nofollow"}
    elsewhere = {str(given["href"]) for given in links if not str(given["href"]).startswith("java%")}
    assert elsewhere == {"https://elsewhere.example/pixel.png", "https://example.org/"}
    assert "<script>alert(1)</script>" in page.text, "what is no Markdown is shown as it was written"


@pytest.mark.unit
@pytest.mark.parametrize(
    ("address", "safe"),
    [
        ("https://example.org", True), ("HTTP://example.org", True), ("mailto:a@example.org", True), ("notes.md", True),
        ("/grids/1?a=b:c", True), ("#part", True), ("", True), ("javascript:x", False), (" javascript:x", False),
        ("data:image/png;base64,x", False), ("ftp://example.org", False), ("vbscript:x", False), ("x-y.z+1:a", False),
    ],
)  # fmt: skip
def test_links_lead_to_the_web_to_mail_and_to_pages_here(address: str, safe: bool) -> None:
    assert is_safe(address) is safe


@pytest.mark.unit
def test_headings_continue_those_of_the_page_and_none_is_empty() -> None:
    page = html_of(
        "# One\n\n#### Four\n\n## Two\n\n#\n\n###### Six\n\n| | n |\n|-|-:|\n| a | 1 |\n\n[](https://example.org)"
    )
    assert [tag for tag, _ in page.attributes if re.fullmatch("h[1-6]", tag)] == ["h2", "h3", "h3", "h4"]
    assert [given.get("class") for tag, given in page.attributes if tag in ("th", "td")] == [None, "num", None, "num"]
    assert [tag for tag, _ in page.attributes if tag == "th"] == ["th"]
    assert page.text.endswith("https://example.org")


@pytest.mark.unit
def test_each_block_runs_in_the_direction_of_its_own_text() -> None:
    page = html_of("English\n\nעברית *מודגש*\n\n- פריט")
    assert [given["dir"] for tag, given in page.attributes if tag in ("p", "li")] == ["auto"] * 3


@pytest.mark.unit
def test_a_long_description_is_folded_at_the_end_of_a_block() -> None:
    short = prose_of("One.\n\nTwo.")
    assert (short.folded, short.is_cut) == ("", False)
    text = "\n\n".join(f"{number} " + "word " * 60 for number in range(10))
    long = prose_of(text)
    assert (long.shown.count("<p"), long.folded.count("<p")) == (2, 8)
    assert prose_of("word " * 1_000).shown == "", "nor is one paragraph of pages"


@pytest.mark.unit
@pytest.mark.parametrize(
    "text",
    [
        "[" * 8_000, "![" * 4_000, "[" * 4_000 + "]" * 4_000, "> " * 4_000, "- " * 4_000, "-\n" * 4_000,
        "**a*" * 2_000, "[a](" * 2_000, "|a|b|\n|-|-|\n" + "|\n" * 3_900, "<" * 8_000, '"' * 8_000, "漢" * 8_000,
        "[a]: x\n\n" + "[a]" * 2_600, "`" * 8_000, "&" * 8_000, "\u202e" * 8_000, "# a\n" * 2_000,
    ],
)  # fmt: skip
def test_a_hostile_description_takes_a_moment_and_fits_on_a_page(text: str) -> None:
    started = time.process_time()
    found = prose_of.__wrapped__(text)
    assert time.process_time() - started < 5
    assert len(found.shown.encode()) + len(found.folded.encode()) < 50_000
    html_of(text)


@pytest.mark.unit
def test_what_is_all_marks_is_shown_as_it_was_written_and_says_that_it_goes_on() -> None:
    text = "-\n" * 4_000
    found = prose_of(text)
    assert (found.is_cut, found.shown) == (True, f"<p>{text[:2_000]}</p>")


SOURCE = {"format": "lm-eval", "name": "results <i>.json", "sha256": "ab" * 32}
LABELS = {"sha": "4f2c1e9", "log": "https://example.org/?a=1&b=2", "odd": "javascript:alert(1)"}


@pytest.fixture
def described(house: House) -> tuple[Project, dict[str, Any]]:
    """A public project with a grid; each has a description, and so has the experiment."""
    project = house.make_project("public")
    warning = {"code": "doubt", "detail": "the unit <b>was</b> guessed", "pointer": "/line/3"}
    grid = project.published(description="About **this grid**", source=SOURCE, labels=LABELS, warnings=[warning])
    sent = {"description": "About **all of it**", "labels": LABELS}
    project.call("PATCH", f"projects/{project.slug}", "admin", json=sent)
    sent = {"description": "About **the experiment**", "labels": {"protocol": "https://example.org/p"}}
    project.call("PATCH", f"projects/{project.slug}/experiments/type-by-length", json=sent)
    return project, grid


def test_each_page_shows_what_is_said_of_its_subject(visitor: Browser, described: tuple[Project, Any]) -> None:
    project, grid = described
    for path, text in {
        f"/projects/{project.slug}": "all of it",
        f"/projects/{project.slug}/experiments/type-by-length": "the experiment",
        f"/grids/{grid['id']}": "this grid",
    }.items():
        assert f"<strong>{text}</strong>" in visitor.get(path).text
        page = visitor.read(path)
        outer = [given for tag, given in page.attributes if str(given.get("href", "")).startswith("https://example")]
        assert {given["rel"] for given in outer} == {"noopener noreferrer nofollow"}
        assert not any(
            "javascript:" in str(given.get("href"))
            for _, given in page.attributes
            if "label." not in str(given.get("href"))
        )


def test_a_label_of_a_grid_leads_to_the_grids_that_have_it(visitor: Browser, described: tuple[Project, Any]) -> None:
    project, grid = described
    project.published(model="without")
    page = visitor.read(f"/grids/{grid['id']}")
    links = [str(given["href"]) for tag, given in page.attributes if tag == "a" and "label." in str(given.get("href"))]
    assert len(links) == 3
    for link in links:
        listed = visitor.get(link)
        assert listed.status_code == 200
        assert f"/grids/{grid['id']}" in listed.text
        assert "without" not in Outline(listed.text).text.split("Statistics")[-1]


def test_the_page_of_a_grid_names_its_source_and_every_doubt(visitor: Browser, described: tuple[Project, Any]) -> None:
    project, grid = described
    text = visitor.read(f"/grids/{grid['id']}").text
    assert f"Read from results <i>.json as lm-eval SHA-256 {'ab' * 32}" in text
    assert "1 warning about the content the unit <b>was</b> guessed /line/3" in text
    plain = visitor.read(f"/grids/{project.published(model='plain')['id']}").text
    assert "Read from" not in plain
    assert "about the content" not in plain


def test_a_changed_description_is_another_page(visitor: Browser, described: tuple[Project, Any]) -> None:
    project, grid = described
    experiment = f"projects/{project.slug}/experiments/type-by-length"
    for page, resource in (
        (f"/{experiment}", experiment), (f"/grids/{grid['id']}", f"grids/{grid['id']}"),
        (f"/projects/{project.slug}", f"projects/{project.slug}"),
    ):  # fmt: skip
        tag = visitor.get(page).headers["ETag"]
        assert visitor.get(page, If_None_Match=tag).status_code == 304
        project.call("PATCH", resource, "admin", json={"description": "other words"})
        assert "other words" in visitor.get(page, If_None_Match=tag).text


def test_joined_experiments_show_one_description(visitor: Browser, described: tuple[Project, Any]) -> None:
    project, _ = described
    project.published(experiment="older", model="m")
    alias = {"kind": "experiment", "alias": "older", "name": "type-by-length"}
    project.call("POST", f"projects/{project.slug}/aliases", json=alias)
    assert "<strong>the experiment</strong>" in visitor.get(f"/projects/{project.slug}/experiments/older").text


def test_the_largest_notes_leave_a_page_small(visitor: Browser, house: House) -> None:
    project = house.make_project("public")
    warnings = [{"code": "doubt", "detail": f"{number} " + "é" * 990} for number in range(100)]
    labels = {f"label {number}": "https://example.org/" + "x" * 200 for number in range(64)}
    sent = publication(description="[a](b) " * 1_140, warnings=warnings, labels=labels, source=SOURCE)
    answer = visitor.get(f"/grids/{project.publish(sent).get_json()['id']}")
    assert "and 80 more" in answer.text
    assert len(answer.data) < 150_000
    assert "This is its beginning" in answer.text


@pytest.mark.parametrize("form", ["txt", "md", "html"])
def test_a_report_names_the_source_and_the_doubts(described: tuple[Project, Any], form: str) -> None:
    project, grid = described
    project.house.compute()
    text = project.get(f"grids/{grid['id']}/report.{form}").text
    assert "ab" * 32 in text
    assert "lm-eval" in text
    assert "What was doubted when it was published" in text
    assert "guessed" in text
    assert "<b>was" not in text if form == "html" else True
