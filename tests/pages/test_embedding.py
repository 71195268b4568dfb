"""Pages in frames of other sites, on walls, and as links, Markdown, frames and citations."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from urllib.parse import parse_qsl, urlsplit

import pytest

from registry.errors import Misconfigured
from registry.settings import Settings
from tests.house import House
from tests.pages.conftest import Browser, Demo, browser


@pytest.fixture
def answered(demo: Demo, guest: Browser) -> Demo:
    for path in ranked(demo):
        guest.get(path)
    demo.house.compute()
    return demo


def ranked(demo: Demo) -> list[str]:
    pair = f"baseline={demo.grids['4'][0]}&contender={demo.grids['2'][0]}"
    return [
        demo.seed0,
        "/projects/demo/experiments/window-by-ratio",
        "/projects/demo/rankings?experiment=window-by-ratio&metric=Pass@1",
        f"/projects/demo/comparisons?{pair}",
    ]


def policy(guest: Browser, path: str) -> dict[str, str]:
    directives = guest.get(path).headers["Content-Security-Policy"].split("; ")
    return {name: rest for name, _, rest in (one.partition(" ") for one in directives)}


def test_an_embedded_page_is_the_page_without_head_foot_and_forms_to_fill(answered: Demo, guest: Browser) -> None:
    for path in ranked(answered):
        whole, page = guest.read(path), guest.read(f"/embed{path}")
        tags = [tag for tag, _ in page.attributes]
        assert (tags.count("h1"), tags.count("main"), tags.count("header") <= 1) == (1, 1, True)
        assert ("base", {"target": "_blank"}) in page.attributes
        assert "Sign in" not in page.text
        assert "Share, embed, cite" in whole.text
        assert "Share, embed, cite" not in page.text
        # Its own link leads to the whole page.
        assert ("a", {"href": path.replace("@", "%40")}) in page.attributes


def test_only_the_sites_of_the_setting_may_frame_embedded_pages_and_no_one_others(
    answered: Demo, guest: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert policy(guest, f"/embed{answered.seed0}")["frame-ancestors"] == "'self'"
    assert "X-Frame-Options" not in guest.get(f"/embed{answered.seed0}").headers
    there = answered.house.app.extensions["registry"]
    allowed = replace(there.settings, embed_origins="https://wiki.example.org, https://*.lab.example")
    monkeypatch.setitem(answered.house.app.extensions, "registry", replace(there, settings=allowed))
    assert (
        policy(guest, f"/embed{answered.seed0}")["frame-ancestors"] == "https://wiki.example.org https://*.lab.example"
    )
    assert policy(guest, answered.seed0)["frame-ancestors"] == "'none'"
    assert guest.get(answered.seed0).headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize(
    "wrong", ["wiki.example.org", "https://a.example/path", "javascript:x", "https://a;script-src *"]
)
def test_a_site_that_is_no_origin_stops_the_start(wrong: str) -> None:
    with pytest.raises(Misconfigured, match="REGISTRY_EMBED_ORIGINS"):
        Settings.from_environment({"REGISTRY_EMBED_ORIGINS": wrong})


def test_an_embedded_page_never_uses_what_the_visitor_signed_in_for(house: House) -> None:
    project = house.make_project()
    grid = project.published()["id"]
    one = browser(house)
    one.post("/sign-in", {"token": project.tokens["reader"], "back": "/"})
    assert one.get(f"/grids/{grid}").status_code == 200
    assert one.get(f"/embed/grids/{grid}").status_code == 401
    share = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": f"/grids/{grid}"}).get_json()
    query = urlsplit(share["url"]).query
    assert browser(house).get(f"/embed/grids/{grid}?{query}").status_code == 200
    assert browser(house).get(f"/embed/projects/{project.slug}/rankings?{query}").status_code == 401


@pytest.mark.parametrize("path", ["/sign-in", "/", "/docs", "/embed/grids/x", "/status", "/assets/pages.css", "/x"])
def test_what_is_no_page_of_results_is_not_embedded(guest: Browser, path: str) -> None:
    assert guest.get(f"/embed{path}").status_code == 404


def copied(guest: Browser, path: str) -> dict[str, str]:
    text = guest.get(path).text
    pairs = re.findall(r'<label for="copied-\d+">(\w+)</label>\s*<textarea [^>]*>(.*?)</textarea>', text, re.DOTALL)
    return {name: unescape(found) for name, found in pairs}


def test_a_page_offers_its_link_picture_markdown_frame_and_citation(answered: Demo, guest: Browser) -> None:
    grid = answered.house.call("GET", f"grids/{answered.grids['0'][0]}").get_json()
    found = copied(guest, f"{answered.seed0}?palette=blues&theme=dark")
    site = answered.house.settings.url
    assert found["Link"] == f"{site}{answered.seed0}?palette=blues"
    assert found["Picture"] == f"{site}/api/v1{answered.seed0}/heatmap.png"
    assert found["Markdown"].endswith(f"({found['Picture']})]({found['Link']})")
    frame = re.fullmatch(
        r'<iframe src="([^"]+)" title="[^"<>]+" width="100%" height="640" loading="lazy"></iframe>', found["Frame"]
    )
    assert frame is not None
    assert guest.get(unescape(frame[1]).removeprefix(site)).status_code == 200
    assert f"revision {grid['revision']}, {grid['digest']}" in found["BibTeX"]
    assert r"accuracy (\%)" in found["BibTeX"]
    assert found["BibTeX"].count("{") == found["BibTeX"].count("}")
    assert "Picture" not in copied(guest, ranked(answered)[2])


def test_the_citation_of_a_ranking_says_when_and_from_what_it_was_computed(answered: Demo, guest: Browser) -> None:
    """The demonstration's eight grids of this experiment have 80 slots, and both models were measured on 32."""
    path = ranked(answered)[2]
    json = answered.house.call("GET", path.removeprefix("/"))
    at = json.get_json()["computed_at"]
    cited = copied(guest, path)["BibTeX"]
    assert f"year = {{{at[:4]}}}" in cited
    tag = json.headers["ETag"].strip('"')
    assert f"computed {at[:10]} {at[11:16]} UTC from 32 of 80 slots of 8 grids, ETag {tag}}}" in cited


@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5])
def test_titles_of_sliced_pages_say_the_slice_wherever_they_are_copied(
    answered: Demo, guest: Browser, number: int
) -> None:
    scope = "experiment=window-by-ratio&metric=Pass@1"
    pages = [*ranked(answered), f"/projects/demo/aggregates?{scope}", f"/projects/demo/lines?{scope}"]
    at, said = ("at.Length=%3E%3D5", "Length at least 5") if number == 0 else ("at.Ratio=0.2", "Ratio 0.2")
    path = f"{pages[number]}{'&' if '?' in pages[number] else '?'}{at}"
    guest.get(path)
    answered.house.compute()
    text, found = guest.get(path).text, copied(guest, path)
    for one in (found["Markdown"], found["Frame"], found["BibTeX"]):
        assert f" at {said}" in one, one
    [title] = re.findall(r'<meta property="og:title" content="([^"]*)">', text)
    assert " ".join(title.split()).endswith(f" at {said}")
    assert said not in copied(guest, pages[number])["Markdown"]


def test_names_cannot_break_out_of_what_is_copied(house: House) -> None:
    project = house.make_project("public")
    evil = '"><script>x</script>](javascript:x) & {%} \\'
    grid = project.published(model=evil, benchmark=evil)["id"]
    found = copied(browser(house), f"/grids/{grid}")
    assert "<script>" not in found["Frame"]
    assert re.search(r"(?<!\\)\]\((?!http://)", found["Markdown"]) is None
    assert r"\& \{\%\} \textbackslash{}" in found["BibTeX"]


def test_a_page_on_a_wall_is_alone_and_goes_on_to_the_others_in_turn(answered: Demo, guest: Browser) -> None:
    first, second, third = answered.seed0, "/projects/demo?sort=model", ranked(answered)[2]
    begin = f"{first}?kiosk=1&seconds=20&rotate={second}&rotate={third.replace('&', '%26')}"
    seen, address = [], begin
    for _ in range(4):
        page = guest.read(address)
        [html] = [given for tag, given in page.attributes if tag == "html"]
        assert (html["data-seconds"], "data-kiosk" in html) == ("20", True)
        assert "Sign in" not in page.text
        rest = [pair for pair in parse_qsl(urlsplit(address).query) if pair[0] not in ("kiosk", "seconds", "rotate")]
        seen.append((urlsplit(address).path, rest))
        address = html["data-next"] or ""
        assert f'content="20; url={address.replace("&", "&amp;")}"' in guest.get(begin).text or len(seen) > 1
    assert seen[0] == seen[3] == (first, [])
    assert seen[1] == ("/projects/demo", [("sort", "model")])
    assert seen[2] == ("/projects/demo/rankings", [("experiment", "window-by-ratio"), ("metric", "Pass@1")])


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("rotate=//evil.example/", "/rotate/0"),
        ("rotate=https://evil.example/", "/rotate/0"),
        ("rotate=/projects/demo&rotate=/\\evil.example", "/rotate/1"),
        ("seconds=1", "/seconds"),
        ("seconds=soon", "/seconds"),
        ("&".join(["rotate=/projects/demo"] * 21), "/rotate"),
    ],
)
def test_a_rotation_stays_on_this_server_and_within_bounds(guest: Browser, query: str, pointer: str) -> None:
    answer = guest.get(f"/projects/demo?kiosk=1&{query}")
    assert (answer.status_code, f"<code>{pointer}</code>" in answer.text) == (422, True)
