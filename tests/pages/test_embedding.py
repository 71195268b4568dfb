"""Pages in frames of other sites, and as links, Markdown, frames and citations."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html import unescape
from urllib.parse import unquote

import pytest

from registry.errors import Misconfigured
from registry.settings import Settings
from tests.house import Project
from tests.pages.conftest import WINDOWS, Browser, Demo, browser, share

RANKING = f"/projects/demo/results?view=ranking&{WINDOWS}"
DATA = f"projects/demo/rankings?{WINDOWS}"


def ranked(demo: Demo) -> list[str]:
    return [demo.seed0, f"/projects/demo/results?view=heatmaps&{WINDOWS}", RANKING, demo.pair]


def policy(guest: Browser, path: str) -> dict[str, str]:
    directives = guest.get(path).headers["Content-Security-Policy"].split("; ")
    return {name: rest for name, _, rest in (one.partition(" ") for one in directives)}


def copied(guest: Browser, path: str) -> dict[str, str]:
    text = guest.get(path).text
    pairs = re.findall(r'<label for="copied-\d+">(\w+)</label>\s*<textarea [^>]*>(.*?)</textarea>', text, re.DOTALL)
    return {name: unescape(found) for name, found in pairs}


def test_an_embedded_page_is_the_page_without_head_foot_and_forms_to_fill(answered: Demo, guest: Browser) -> None:
    for path in ranked(answered):
        whole, page = guest.read(path), guest.read(f"/embed{path}")
        tags = [tag for tag, _ in page.attributes]
        assert (tags.count("h1"), tags.count("main"), tags.count("header") <= 1) == (1, 1, True)
        assert page.all("base", target="_blank")
        assert "Sign in" not in page.text
        assert "Share, embed, cite" in whole.text
        assert "Share, embed, cite" not in page.text
        # Its own link leads to the whole page.
        assert path.replace("@", "%40") in page.links()


def test_only_the_sites_of_the_setting_may_frame_embedded_pages_and_no_one_others(
    demo: Demo, guest: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = f"/embed{demo.seed0}"
    assert policy(guest, embedded)["frame-ancestors"] == "'self'"
    assert "X-Frame-Options" not in guest.get(embedded).headers
    there = demo.house.app.extensions["registry"]
    allowed = replace(there.settings, embed_origins="https://wiki.example.org, https://*.lab.example")
    monkeypatch.setitem(demo.house.app.extensions, "registry", replace(there, settings=allowed))
    assert policy(guest, embedded)["frame-ancestors"] == "https://wiki.example.org https://*.lab.example"
    assert policy(guest, demo.seed0)["frame-ancestors"] == "'none'"
    assert guest.get(demo.seed0).headers["X-Frame-Options"] == "DENY"
    for wrong in ("wiki.example.org", "https://a.example/path", "javascript:x", "https://a;script-src *"):
        with pytest.raises(Misconfigured, match="REGISTRY_EMBED_ORIGINS"):
            Settings.from_environment({"REGISTRY_EMBED_ORIGINS": wrong})
    for path in ("/sign-in", "/", "/docs", "/embed/grids/x", "/status", "/assets/pages.css", "/x"):
        assert guest.get(f"/embed{path}").status_code == 404, path


def test_an_embedded_page_never_uses_what_the_visitor_signed_in_for(project: Project, visitor: Browser) -> None:
    grid = f"/grids/{project.published()['id']}"
    one = browser(project.house, project.tokens["reader"])
    assert one.get(grid).status_code == 200
    assert one.get(f"/embed{grid}").status_code == 401
    query = share(project, grid).partition("?")[2]
    assert visitor.get(f"/embed{grid}?{query}").status_code == 200
    assert visitor.get(f"/embed/projects/{project.slug}/rankings?{query}").status_code == 401


def test_a_page_offers_its_link_picture_markdown_frame_and_citation(answered: Demo, guest: Browser) -> None:
    """The demonstration's eight grids of the experiment have 80 slots, and both models were measured on 32."""
    seed0 = answered.seed0
    grid = answered.answer(seed0)
    found = copied(guest, f"{seed0}?palette=blues&theme=dark")
    site = answered.house.settings.url
    assert found["Link"] == f"{site}{seed0}?palette=blues"
    assert found["Picture"] == f"{site}/api/v1{seed0}/heatmap.png"
    assert found["Markdown"].endswith(f"({found['Picture']})]({found['Link']})")
    frame = re.fullmatch(
        r'<iframe src="([^"]+)" title="[^"<>]+" width="100%" height="640" loading="lazy"></iframe>', found["Frame"]
    )
    assert frame is not None
    assert guest.get(unescape(frame[1]).removeprefix(site)).status_code == 200
    assert f"revision {grid['revision']}, {grid['digest']}" in found["BibTeX"]
    assert f"\\url{{{found['Link']}&revision={grid['revision']}}}" in found["BibTeX"]
    assert r"accuracy (\%)" in found["BibTeX"]
    assert found["BibTeX"].count("{") == found["BibTeX"].count("}")
    # What is shown as it is now is cited by the day.
    table, today = copied(guest, "/projects/demo/results?view=table")["BibTeX"], datetime.now(UTC).date()
    assert f"year = {{{today.year}}}" in table
    assert f"note = {{Results registry, seen {today}}}" in table
    # The citation of a ranking says when and from what it was computed.
    cited = copied(guest, RANKING)
    assert guest.get(cited["Picture"].removeprefix(site)).data.startswith(b"\x89PNG")
    stored = answered.house.call("GET", DATA)
    at = stored.get_json()["computed_at"]
    assert f"year = {{{at[:4]}}}" in cited["BibTeX"]
    told = f"computed {datetime.fromisoformat(at):%-d %b %Y, %H:%M} UTC from 32 of 80 slots of 8 grids}}"
    assert told in cited["BibTeX"]
    # Its address keeps what is cited: it has the instant of the page, or else that at which it was read.
    [(kept, instant)] = re.findall(r"\\url\{(.*&as_of=([^}]*))\}", cited["BibTeX"])
    assert timedelta() < datetime.now(UTC) - datetime.fromisoformat(unquote(instant)) < timedelta(minutes=5)
    assert f"{cited['Link']}&as_of={instant}" == kept
    assert f"\\url{{{kept}}}" in copied(guest, kept.removeprefix(site))["BibTeX"]


def test_titles_of_sliced_pages_say_the_slice_wherever_they_are_copied(
    answered: Demo, guest: Browser, subtests: pytest.Subtests
) -> None:
    for path in (*ranked(answered), *(f"/projects/demo/results?view={view}&{WINDOWS}" for view in ("table", "lines"))):
        with subtests.test(msg=path):
            by_length = path == answered.seed0
            at, said = ("at.Length=%3E%3D5", "Length at least 5") if by_length else ("at.Ratio=0.2", "Ratio 0.2")
            sliced = f"{path}{'&' if '?' in path else '?'}{at}"
            page, found = guest.computed(sliced), copied(guest, sliced)
            for one in (found["Markdown"], found["Frame"], found["BibTeX"]):
                assert f" at {said}" in one, one
            [title] = page.all("meta", property="og:title")
            assert " ".join(title["content"].split()).endswith(f" at {said}")
            assert said not in copied(guest, path)["Markdown"]


def test_names_cannot_break_out_of_what_is_copied(public: Project, visitor: Browser) -> None:
    evil = '"><script>x</script>](javascript:x) & {%} \\'
    found = copied(visitor, f"/grids/{public.published(model=evil, benchmark=evil)['id']}")
    assert "<script>" not in found["Frame"]
    assert re.search(r"(?<!\\)\]\((?!http://)", found["Markdown"]) is None
    assert r"\& \{\%\} \textbackslash{}" in found["BibTeX"]
