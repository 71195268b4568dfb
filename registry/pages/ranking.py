"""The page of a ranking: the order with what the tests leave open, the pairs, and the question as a form."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from flask import Response, request

from registry.api.asked import ask
from registry.api.context import enter, parts
from registry.api.schemas import RankingQuery
from registry.operations.find import Filters, Page, find_grids
from registry.operations.name import names_in_use
from registry.pages.answer import PENDING_SECONDS, SETTLED_SECONDS, data_path, page
from registry.pages.asked import checked, state_of, tags_of
from registry.pages.blocks import parts_of, typeset
from registry.pages.front import pages
from registry.pages.palette import DIFFERENCES, difference_bin
from registry.question import METHODS, MISSING, TARGETS, RankingQuestion
from registry.renderings.numbers import UNDEFINED, fixed, p_value, places_of, signed
from registry.renderings.pairs import pair_blocks
from registry.renderings.policies import friedman_blocks, policy_blocks
from registry.renderings.policies import method as by_author
from registry.renderings.ranking import order_blocks

Document = dict[str, Any]
_NAMES, _SAMPLE, _MOST_IN_MATRIX = 200, 100, 30
FILTERS = ("benchmark", "variant", "model")
ROW, BARS = 26, 260.0


@pages.get("/projects/<project>/rankings")
def ranking(project: str) -> Response:
    """Who is better; without an experiment and a metric in the address, the form alone."""
    query = checked(RankingQuery, optional=("experiment", "metric"))
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        kinds = ("experiment", "metric", *FILTERS)
        names = {kind: names_in_use(connection, row.id, kind, limit=_NAMES) for kind in kinds}
        scope = Filters(experiment=[query["experiment"]]) if query.get("experiment") else Filters()
        sample = find_grids(connection, row.id, scope, Page(limit=_SAMPLE))
    complete = "experiment" in query and "metric" in query
    found: Any = ask(_question(query), project, patience=2.0)[1] if complete else None
    state = state_of(found)

    def context() -> dict[str, Any]:
        document = orjson.loads(gzip.decompress(found.document)) if state == "ready" else None
        return {
            "project": row,
            "query": query,
            "names": names,
            "axes": sorted({axis.name for one in sample for axis in one.grid.axes}),
            "here_in": {kind: sorted({getattr(one.names, kind) for one in sample}) for kind in (*FILTERS, "metric")},
            "methods": [(name, by_author(name)) for name in METHODS],
            "missings": [(name, by_author(name)) for name in MISSING],
            "targets": [(name, by_author(name)) for name in TARGETS],
            "state_word": state,
            "reason": found.reason if state == "failed" else None,
            "ranking": document,
            "order": parts_of(order_blocks(document)) if document else [],
            "bars": bars_of(document) if document else [],
            "bars_width": BARS,
            "groups": [", ".join(group) for group in (document or {}).get("groups") or ()],
            "matrix": matrix_of(document) if document else None,
            "pairs": parts_of(pair_blocks(document)) if document else [],
            "policies": parts_of([*friedman_blocks(document), *policy_blocks(document)]) if document else [],
            "bins": range(DIFFERENCES),
            "data": lambda suffix="": data_path(
                f"/projects/{project}/rankings{suffix}", row.visibility, _given(request.args.items(multi=True))
            ),
            "every": PENDING_SECONDS if state == "pending" else SETTLED_SECONDS,
        }

    return page(
        "ranking.html", [row.updated_at, names, [(one.id, one.etag) for one in sample], *tags_of(found)], context
    )


def _given(pairs: Any) -> list[tuple[str, str]]:
    return [(name, text) for name, text in pairs if text]


def _question(query: Mapping[str, Any]) -> RankingQuestion:
    return RankingQuestion(
        query["experiment"],
        query["metric"],
        **named(query),
        **{name: query[name] for name in ("by", "method", "missing", "alpha", "target")},
    )


def named(query: Mapping[str, Any]) -> dict[str, Any]:
    """The names that a question is limited to, each once."""
    return {kind: tuple(sorted(set(query[kind]))) for kind in ("benchmark", "model", "variant")}


@dataclass(frozen=True, slots=True)
class Bar:
    """A name with the ranks that the tests leave open; `x`, `wide` and `dot` are places in a box `BARS` wide."""

    name: str
    rank: str
    ranks: str
    group: str
    score: str
    cells: str
    record: str
    x: str
    wide: str
    dot: str


def bars_of(document: Document) -> list[Bar]:
    """One bar a name, in the order of the ranking."""
    rows = document.get("ranking") or []
    most = max((row.get("rank_high") or row.get("rank") or 1 for row in rows), default=1)
    step = BARS / max(1, most)
    places = places_of(row.get("score") for row in rows)
    written = signed if document.get("method") == "mean_difference" else fixed
    return [
        _bar(row, step, typeset(written(row["score"], places)) if row.get("score") is not None else UNDEFINED)
        for row in rows
    ]


def _bar(row: Document, step: float, score: str) -> Bar:
    rank = row.get("rank") or 1
    low, high = row.get("rank_low") or rank, row.get("rank_high") or rank
    return Bar(
        str(row["name"]),
        str(row.get("rank", UNDEFINED)),
        str(low) if low == high else f"{low}–{high}",
        " ".join(row.get("group") or ()) or UNDEFINED,
        score,
        str(row.get("cells", UNDEFINED)),
        f"{row.get('wins', 0)} · {row.get('ties', 0)} · {row.get('losses', 0)}",
        f"{(low - 1) * step + 3:.1f}",
        f"{(high - low + 1) * step - 6:.1f}",
        f"{(rank - 0.5) * step:.1f}",
    )


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every pair, row minus column: a class, a text and words for each; None on the diagonal."""

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, str, str] | None]]]
    most: str


def matrix_of(document: Document) -> Matrix | None:
    """The differences of all pairs, in the order of the ranking; None where there are too few or too many names."""
    names = [str(row["name"]) for row in document.get("ranking") or ()]
    if not 2 <= len(names) <= _MOST_IN_MATRIX:
        return None
    pairs = {(pair["a"], pair["b"]): (pair, 1) for pair in document.get("pairs") or ()}
    pairs |= {(b, a): (pair, -1) for (a, b), (pair, _) in pairs.items()}
    sizes = [abs(pair["difference"]) for pair, _ in pairs.values() if pair.get("difference") is not None]
    most, places = max(sizes, default=0.0), places_of(sizes)
    alpha = document.get("alpha") or 0.05
    rows = [
        (a, [None if a == b else _square(a, b, *pairs.get((a, b), ({}, 1)), most, places, alpha) for b in names])
        for a in names
    ]
    return Matrix(names, rows, fixed(most, places))


def _square(
    a: str, b: str, pair: Document, sign: int, most: float, places: int | None, alpha: float
) -> tuple[str, str, str]:
    if pair.get("difference") is None:
        return "bare", "", f"{a} and {b}: not comparable, {pair.get('reason') or 'no slot in common'}"
    difference = sign * pair["difference"] + 0.0
    p = pair.get("p_holm")
    sure = p is not None and p < alpha
    record = [pair.get(name, 0) for name in ("wins", "ties", "losses")][::sign]
    told = (
        f"{a} minus {b}: {typeset(signed(difference, places))} over {pair['n_common']} slots, "
        f"{record[0]} won, {record[1]} tied, {record[2]} lost, Holm p {p_value(p)}"
    )
    return f"d{difference_bin(difference, most)}{' sure' if sure else ''}", typeset(signed(difference, places)), told
