"""Pages of a project's claims: the list, and one claim with its judgements. Other pages show claims by `said.py`."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import orjson
from flask import Response, g, request

from registry.api.context import caller, enter, parts
from registry.api.smorest import API_PREFIX
from registry.claims.grammar import read_claim
from registry.errors import Fault, Invalid
from registry.grids.intake.levels import has_control
from registry.operations import find_claims as stored
from registry.operations.auth import authorize
from registry.pages import said
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.live import CLAIMS, PENDING_SECONDS, SETTLED_SECONDS, live_on
from registry.pages.parameters import ID, argument, number
from registry.pages.responses import page
from registry.results.codec import from_bytes

_CLAIMS, _NAMES, _JUDGEMENTS, _CELLS, _INPUTS = 50, 200, 20, 12, 20
_NO_CURSOR = "is not a cursor of this list"


@pages.get("/projects/<project>/claims")
def claims(project: str) -> Response:
    """The claims of a project, those that its numbers contradict first."""
    verdicts, chosen, sources_ = _chosen("verdict", list(said.WORDS)), _chosen("experiment"), _chosen("source")
    finer = (*verdicts, *(way for one in verdicts for way in stored.WAYS.get(one, ())))
    of, cursor = (
        argument("grid", ID, "is no id of a grid"),
        argument("cursor", f"[0-{len(stored.ORDER) - 1}]~{ID}", _NO_CURSOR),
    )
    grid, after = uuid.UUID(of) if of else None, (int(cursor[0]), uuid.UUID(cursor[2:])) if cursor else None
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        of_grid = stored.experiment_of_grid(connection, row.id, grid) if grid else None
        of_both = stored.names_of_experiment(connection, row.id, of_grid) if of_grid and not chosen else chosen
        filters = stored.ClaimFilters(experiment=of_both, source=sources_)
        counts = stored.verdicts_in_order(connection, row.id, filters, grid)
        wanted = replace(filters, verdict=finer)
        found = stored.claims_in_order(connection, row.id, wanted, _CLAIMS + 1, grid=grid, after=after)
        experiments = stored.experiments_of_claims(connection, row.id, _NAMES)
        sources = stored.sources_of_claims(connection, row.id, _NAMES)
    shown = found[:_CLAIMS]
    last = "{}~{}".format(*stored.place_of(shown[-1])) if len(found) > _CLAIMS else None

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "claims": [said.shown_claim(one) for one in shown],
            "counts": said.ordered(counts),
            "total": sum(counts.values()),
            "matching": sum(count for name, count in counts.items() if not verdicts or name in finer),
            "headline": said.headline(counts),
            "verdict": verdicts[0] if len(verdicts) == 1 else "",
            "experiments": _with(experiments, chosen),
            "experiment": chosen[0] if chosen else "",
            "sources": _with(sources, sources_),
            "source_": sources_[0] if sources_ else "",
            "of_grid": grid if of_grid else None,
            "words": said.WORDS,
            "cursor": last,
            "filtered": bool(verdicts or chosen or sources_ or grid),
            "json": data_path(f"/projects/{project}/claims", row.visibility, _asked()),
            "every": PENDING_SECONDS if any(one.state == "pending" for one in shown) else SETTLED_SECONDS,
            "feed": live_on(row, CLAIMS, told=True),
        }

    tags = said.tags_of_claims(shown)
    return page("claims.html", [row.updated_at, tags, counts, experiments, sources, last], context)


@pages.get("/claims/<uuid:claim>")
def claim(claim: uuid.UUID) -> Response:
    """A claim: its verdict by the numbers and beyond noise, what it rests on, and how it was judged before."""
    with parts().database.reading() as connection:
        row = stored.find_claim(connection, claim)
        authorize(caller(connection), row, "reader")
        before = number("before", "is the number of a judgement")
        history = stored.list_judgements(connection, claim, before, _JUDGEMENTS + 1)
        document = from_bytes(row.document) if row.document else None
        inputs = document["inputs"][:_INPUTS] if document else []
        names = stored.names_of_grids(connection, [uuid.UUID(one["grid"]) for one in inputs])

    def context() -> dict[str, Any]:
        read = read_claim(orjson.loads(row.normal))
        project = SimpleNamespace(slug=row.project, id=row.project_id, visibility=row.visibility)
        return {
            "project": project,
            "claim": said.shown_claim(row),
            "row": row,
            "document": document,
            "says": said.said_by(read),
            "denies": said.denies(read.says),
            "parts_": list(said.shown_parts(document)) if document else [],
            "cells": said.cells_of(document, _CELLS) if document else [],
            "inputs": [one | {"names": names.get(one["grid"], "a grid that is gone")} for one in inputs],
            "normal": orjson.dumps(orjson.loads(row.normal), option=orjson.OPT_INDENT_2).decode(),
            "history": [(one, stored.verdict_in_order(one), said.sentence_of(one)) for one in history[:_JUDGEMENTS]],
            "older": history[_JUDGEMENTS - 1].number if len(history) > _JUDGEMENTS else None,
            "words": said.WORDS,
            "open": row.visibility == "public" or "shared" in g,
            "site": parts().settings.url,
            "api": f"{parts().settings.url}{API_PREFIX}/claims/{row.id}",
            "json": data_path(f"/claims/{row.id}", row.visibility),
            "every": PENDING_SECONDS if row.state == "pending" else SETTLED_SECONDS,
            "feed": live_on(project, CLAIMS, told=True, claim=[row.id]),
        }

    return page("claim.html", [said.tags_of_claims([row]), row.visibility, [one.number for one in history]], context)


def _chosen(name: str, known: Sequence[str] = ()) -> tuple[str, ...]:
    """The texts of a filter; `Invalid` for one that is none of those known, or cannot be one."""
    texts = tuple(filter(None, request.args.getlist(name)))
    if any(has_control(text) for text in texts):
        raise Invalid([Fault(f"/{name}", "must not hold control characters")])
    if known and not set(texts) <= set(known):
        raise Invalid([Fault(f"/{name}", f"is one of {', '.join(known)}")])
    return texts


def _with(known: Sequence[str], chosen: Sequence[str]) -> list[str]:
    """Names to choose from: also those that are chosen and not known."""
    return sorted({*known, *chosen})


def _asked() -> list[tuple[str, str]]:
    """Filters that the API has too; its verdicts `contradicted` and `supported` are of either way."""
    names, of = ("verdict", "experiment", "source"), {way: one for one, ways in stored.WAYS.items() for way in ways}
    of[stored.LAYERS_DIFFER] = "contradicted"
    asked = [(name, of.get(text, text)) for name, text in request.args.items(multi=True)]
    return [pair for pair in asked if pair[0] in names and pair[1] not in ("", "unjudged")]
