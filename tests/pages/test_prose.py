"""Descriptions, labels, sources and warnings on pages: shown, safe, and no larger than a page may be."""

import re
import time

import pytest

from registry.pages.prose import is_safe, prose_of
from tests.house import Project
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
def test_links_lead_to_the_web_to_mail_and_to_pages_here() -> None:
    safe = (
        "https://example.org",
        "HTTP://example.org",
        "mailto:a@example.org",
        "notes.md",
        "/grids/1?a=b:c",
        "#part",
        "",
    )
    other = ("javascript:x", " javascript:x", "data:image/png;base64,x", "ftp://example.org", "vbscript:x", "x-y.z+1:a")
    assert [one for one in (*safe, *other) if is_safe(one)] == [*safe]


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
def test_a_hostile_description_takes_a_moment_and_fits_on_a_page(subtests: pytest.Subtests) -> None:
    for text in (
        "[" * 8_000, "![" * 4_000, "[" * 4_000 + "]" * 4_000, "> " * 4_000, "- " * 4_000, "-\n" * 4_000,
        "**a*" * 2_000, "[a](" * 2_000, "|a|b|\n|-|-|\n" + "|\n" * 3_900, "<" * 8_000, '"' * 8_000, "漢" * 8_000,
        "[a]: x\n\n" + "[a]" * 2_600, "`" * 8_000, "&" * 8_000, "\u202e" * 8_000, "# a\n" * 2_000,
    ):  # fmt: skip
        with subtests.test(msg=text[:20]):
            started = time.process_time()
            found = prose_of.__wrapped__(text)
            assert time.process_time() - started < 5
            assert len(found.shown.encode()) + len(found.folded.encode()) < 50_000
            assert Outline(f"{found.shown}{found.folded}").faults == []
    # What is all marks is shown as it was written, and says that it goes on.
    text = "-\n" * 4_000
    found = prose_of(text)
    assert (found.is_cut, found.shown) == (True, f"<p>{text[:2_000]}</p>")


SOURCE = {"format": "lm-eval", "name": "results <i>.json", "sha256": "ab" * 32}
LABELS = {"sha": "4f2c1e9", "log": "https://example.org/?a=1&b=2", "odd": "javascript:alert(1)"}


@pytest.fixture
def described(public: Project) -> tuple[Project, str]:
    """A project and the path of a grid; each has a description, and so has the experiment."""
    home = f"projects/{public.slug}"
    warning = {"code": "doubt", "detail": "the unit <b>was</b> guessed", "pointer": "/line/3"}
    grid = public.published(description="About **this grid**", source=SOURCE, labels=LABELS, warnings=[warning])
    public.call("PATCH", home, "admin", json={"description": "About **all of it**", "labels": LABELS})
    sent = {"description": "About **the experiment**", "labels": {"protocol": "https://example.org/p"}}
    public.call("PATCH", f"{home}/experiments/type-by-length", json=sent)
    return public, f"/grids/{grid['id']}"


def test_each_page_shows_what_is_said_of_its_subject_and_changes_with_it(
    visitor: Browser, described: tuple[Project, str]
) -> None:
    project, grid = described
    home = f"/projects/{project.slug}"
    experiment = f"{home}/experiments/type-by-length"
    project.published(experiment="older", model="m")
    alias = {"kind": "experiment", "alias": "older", "name": "type-by-length"}
    project.call("POST", f"{home[1:]}/aliases", json=alias)
    assert "<strong>the experiment</strong>" in visitor.opened(f"{home}/experiments/older").text
    for path, text in {experiment: "the experiment", grid: "this grid", home: "all of it"}.items():
        assert f"<strong>{text}</strong>" in visitor.opened(path).text
        page = visitor.read(path)
        outer = [given for given in page.all("a") if given["href"].startswith("https://example")]
        assert {given["rel"] for given in outer} == {"noopener noreferrer nofollow"}
        assert not [link for link in page.links("javascript:") if "label." not in link]
        shown = visitor.get(path).headers.get("Location", path)
        tag = visitor.get(shown).headers["ETag"]
        assert visitor.get(shown, If_None_Match=tag).status_code == 304
        project.call("PATCH", path[1:], "admin", json={"description": "other words"})
        assert "other words" in visitor.get(shown, If_None_Match=tag).text


def test_the_page_of_a_grid_names_its_source_and_every_doubt_and_leads_to_others_by_label(
    visitor: Browser, described: tuple[Project, str]
) -> None:
    project, grid = described
    page = visitor.read(grid)
    assert "Read from results <i>.json as lm-eval" in page.text
    assert "1 warning about the content the unit <b>was</b> guessed /line/3" in page.text
    plain = visitor.read(f"/grids/{project.published(model='without')['id']}").text
    assert "Read from" not in plain
    assert "about the content" not in plain
    links = [given["href"] for given in page.all("a") if "label." in given["href"]]
    assert len(links) == 3
    for link in links:
        listed = visitor.read(link)
        assert grid in listed.links()
        assert "without" not in listed.text.split("Statistics")[-1]


def test_the_largest_notes_leave_a_page_small(public: Project, visitor: Browser) -> None:
    warnings = [{"code": "doubt", "detail": f"{number} " + "é" * 990} for number in range(100)]
    labels = {f"label {number}": "https://example.org/" + "x" * 200 for number in range(64)}
    grid = public.published(description="[a](b) " * 1_140, warnings=warnings, labels=labels, source=SOURCE)
    answer = visitor.get(f"/grids/{grid['id']}")
    assert "and 97 more of these" in answer.text
    assert len(answer.data) < 150_000
    assert "This is its beginning" in answer.text
