"""Texts and addresses with which people share, embed and cite a page."""

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from html import escape, unescape
from typing import Any

from flask import g, request

from registry.api import serializers
from registry.api.context import parts
from registry.api.fields import written_utc
from registry.api.smorest import API_PREFIX
from registry.operations.stored_grids import GridSummary
from registry.pages.embedding import EMBEDDABLE
from registry.pages.links import EMBED, LOOKS, Query, here, located
from registry.renderings.words import counted, moment, title
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics

_TEX = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


Cited = tuple[str, str]
"""The year in which a page was cited, and words that say which state of the results it showed."""


def cited_grid(grid: GridSummary) -> Cited:
    """A grid by its revision and digest, which never change."""
    return str(grid.updated_at)[:4], f"revision {grid.revision}, {grid.digest}"


def about_grid(stored: GridSummary, row: Any) -> dict[str, Any]:
    """What the templates of pages about a grid take alike; the row has its project."""
    summary = serializers.summary(stored)
    return {
        "grid": summary,
        "cited": cited_grid(stored),
        "project_id": row.project_id,
        "visibility": row.visibility,
        "title": title(summary),
    }


def cited_ranking(ranking: Ranking) -> Cited:
    """A ranking by its time, and by how much was counted."""
    grids = ranking.inputs_left_out.count if ranking.inputs_left_out else len(ranking.inputs)
    told = counted(grids, "grid", "grids")
    if ranking.slots:
        told = f"{ranking.slots.compared:,} of {ranking.slots.total:,} slots of {told}"
    return cited_answer(ranking.computed_at, told)


def cited_answer(computed_at: str | None, told: str) -> Cited:
    """What was computed, by its time, and what it is from."""
    at = computed_at or ""
    return at[:4], " ".join(filter(None, ("computed", at and moment(at), f"from {told}")))


def sharing_of(heading: str, picture: str | None, cited: Cited | None, revision: int | None) -> list[tuple[str, str]]:
    """Names and texts to copy from this page, all with whole addresses; none from one that does not stand by itself.

    `heading` is HTML, as a template's block is. What is cited stays: the instant, or the `revision` of a grid, is in
    the address of the citation alone.
    """
    if request.endpoint not in EMBEDDABLE:
        return []
    site, looks = parts().settings.url, dict.fromkeys(LOOKS)
    address = here(**looks)
    kept: dict[str, Any] = {"revision": revision} if request.endpoint == "pages.grid" else {}
    if request.endpoint == "pages.results":
        kept = {"as_of": request.args.get("as_of") or written_utc(datetime.now(UTC))}
    link, name = site + address, " ".join(unescape(heading).split())
    written = f"![{_markdown(name)}]({picture})" if picture else _markdown(name)
    frame = f'<iframe src="{escape(site + EMBED + address)}" title="{escape(name)}" width="100%" height="640"'
    return [
        ("Link", link),
        *([("Picture", picture)] if picture else []),
        ("Markdown", f"[{written}]({link})"),
        ("Frame", f'{frame} loading="lazy"></iframe>'),
        ("BibTeX", _bibtex(name, link, site + here(**looks, **kept), cited)),
    ]


def picture_of(path: str, visibility: str, query: Query) -> str | None:
    """The whole address of a picture below this path of the API, for what a link to a page unfolds to; None of what is
    not public."""
    return parts().settings.url + located(API_PREFIX + path, query) if visibility == "public" else None


def printed_address() -> str:
    """The whole address of this page for paper, which does not carry the secret of a share."""
    return parts().settings.url + (request.path if "shared" in g else here(**dict.fromkeys(LOOKS)))


def needs_signing_in() -> bool:
    """Whether who opens a copied link must sign in: the page is not public, and no share opened it."""
    return "visitor" in g and "shared" not in g


def _markdown(text: str) -> str:
    return "".join(f"\\{character}" if character in "[]\\*_`<" else character for character in text)


def _bibtex(title: str, link: str, kept: str, cited: Cited | None) -> str:
    """An entry without an author, whom the registry does not know; its key is the same for the same link, its address
    what is `kept` of that."""
    written = "".join(_TEX.get(character, character) for character in title)
    seen = datetime.now(UTC).date()
    year, note = cited or (str(seen.year), f"seen {seen}")
    fields = [
        f'  title = "{{{written}}}"',
        f"  howpublished = {{\\url{{{kept}}}}}",
        f"  year = {{{year}}}",
        f"  note = {{{', '.join(filter(None, ('Results registry', note)))}}}",
    ]
    return f"@misc{{registry-{sha256(link.encode()).hexdigest()[:8]},\n" + ",\n".join(fields) + "\n}"


@dataclass(frozen=True, slots=True)
class Bar:
    """A share of the whole: where it begins and how long it is, in hundredths for an SVG attribute."""

    name: str
    percent: str
    start: str
    length: str


def shares_of(statistics: Statistics) -> list[Bar]:
    """The axes' shares and the residual, one after the other; none where they are not computed."""
    found = statistics.sensitivity
    if found is None or not found.axes:
        return []
    shares = [(name, axis.share) for name, axis in found.axes.items()]
    shares += [("residual", found.residual.share)] if found.residual else []
    bars, start = [], 0.0
    for name, share in shares:
        length = max(0.0, 100 * share)
        bars.append(Bar(name, f"{100 * share:.0f} %", f"{start:.2f}", f"{length:.2f}"))
        start += length
    return bars
