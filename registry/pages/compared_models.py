"""View `compare` of the page of results: two models by name, over all benchmarks and on each, with a link to the
comparison of both grids."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from flask import request
from marshmallow import validates_schema

from registry.api.answers import ask
from registry.api.comparisons import VARIANTS_OF_SIDES, EitherComparisonParameters, models_asked
from registry.api.context import parts
from registry.operations.plans import plan_of_models
from registry.pages.bar import KEPT, carried_on
from registry.pages.blocks import Part, parts_of, sections_of, shown, with_first
from registry.pages.choices import Field, select
from registry.pages.drawings import whiskers_of
from registry.pages.links import carried
from registry.pages.responses import state_of, tags_of
from registry.pages.sharing import cited_answer
from registry.pages.targets import by_target, rankings_of, rows_of_targets
from registry.pages.view import DRAWN, TABLES, Asked, Found, View
from registry.plans.closed_forms import Goal
from registry.query import TARGETS
from registry.renderings.comparison_of_models import page as blocks
from registry.renderings.numbers import intervals, places_of, rough, signed, typeset
from registry.renderings.plan import page as plan_blocks
from registry.renderings.sheet import Lines
from registry.renderings.verdicts.among_pairs import among_pairs
from registry.renderings.verdicts.comparison import model_comparison_verdict, names_of_models
from registry.renderings.verdicts.estimate import Verdict
from registry.renderings.verdicts.ranking import is_tested, leading_pair, of_measured
from registry.renderings.verdicts.targets import of_pair, spoken
from registry.renderings.words import counted
from registry.results.codec import read
from registry.results.comparison import ModelComparison, WholeGap
from registry.results.ranking import Ranking

MODEL_SIDES = ("contender_model", "baseline_model")
"""The parameters of a comparison of models by name."""
_IDS = ("baseline", "contender", "baseline_revision", "contender_revision")
_FIELDS = ("experiment", "metric", *MODEL_SIDES, *VARIANTS_OF_SIDES, "benchmark", "variant", "suite")
PLAN = "What would tell them apart"
"""The heading of the plan."""
Section = tuple[str, list[Part]]
_MOST_ROWS = 60
"""Benchmarks that the page lists; the downloads have all."""


class _Parameters(EitherComparisonParameters):
    """Those of the API about models, of which a form may lack any; variants still need each other."""

    class Meta:
        exclude = _IDS

    @validates_schema
    def _check_way(self, data: dict[str, Any], **_options: Any) -> None:
        self.check_variants(data)


def asks_by_name() -> bool:
    """Whether the address of a comparison is about models and not about grids, beside which a selection stays."""
    asked = {name for name, text in request.args.items(multi=True) if text}
    return not asked.isdisjoint(_FIELDS if asked.isdisjoint(_IDS) else MODEL_SIDES)


def find(asked: Asked) -> Found:
    """Contender less baseline over all benchmarks; nothing where fewer than two models are chosen."""
    sides = sides_of(asked)
    if len(sides) < len(MODEL_SIDES):
        return Found()
    row = ask(models_asked({**asked.query, **sides}, asked.slug, asked.wanted), asked.slug, patience=2.0)[1]
    meant = [one for one in sides.items() if one[0] not in asked.query]
    rows = rows_of_targets(asked)
    tags = [tag for one in rows.values() for tag in tags_of(one)]

    def shown() -> dict[str, Any]:
        found = read(ModelComparison, row.document)
        cited = cited_answer(found.computed_at, counted(len(found.inputs), "grid", "grids"))
        return {**_shown(found, asked.slug, rows), "cited": cited}

    return Found(row, shown, tags, meant, best=rows)


def sides_of(asked: Asked) -> dict[str, str]:
    """The models of both sides: those that are named, or the two that the bar has, or two variants of the only one, or
    those that the verdict on the ranking sets against each other, or the only one that is chosen."""
    named = {side: asked.query[side] for side in MODEL_SIDES if side in asked.query}
    chosen = request.args.getlist("model") if not named else []
    if named or len(chosen) == len(MODEL_SIDES):
        return named or dict(zip(MODEL_SIDES, chosen, strict=True))
    models, variants = asked.bar.choices["model"], [one for one in asked.bar.choices["variant"].names if one]
    if models.total == 1 and len(variants) > 1 and not any(asked.query.get(side) for side in VARIANTS_OF_SIDES):
        return {**dict.fromkeys(MODEL_SIDES, models.names[0]), **dict(zip(VARIANTS_OF_SIDES, variants, strict=False))}
    rankings = rankings_of(rows_of_targets(asked))
    pair = leading_pair(spoken(rankings.values())) if rankings else None
    return dict(zip(MODEL_SIDES, pair or chosen[:1], strict=False))


def beside(asked: Asked) -> list[Field]:
    """The two models, and their variants where there are several."""
    sides, variants = sides_of(asked), asked.bar.choices["variant"].names
    models = [
        Field(side.removesuffix("_model"), side, (), sides.get(side, ""), "a model", "names") for side in MODEL_SIDES
    ]
    options = [(one, one) for one in variants if one]
    return models + [
        select(side.replace("_", "’s "), side, options, asked.query.get(side) or sides.get(side), "the same of both")
        for side in reversed(VARIANTS_OF_SIDES)
        if len(variants) > 1
    ]


def _shown(found: ModelComparison, project: str, rows: Mapping[str, Any]) -> dict[str, Any]:
    verdict, rankings = model_comparison_verdict(found), rankings_of(rows)
    waits = any(state_of(one) == "pending" for one in rows.values())
    among = among_pairs(verdict, found, [*rankings.values()], waits=waits)
    two = (found.contender.model, found.baseline.model)
    pairs = {target: of_pair(one, two) for target, one in rankings.items()} if found.differs == ("model",) else {}
    listed = {target: one for target, one in pairs.items() if one is not None}
    told = [part for part in parts_of(blocks(found)) if part.text != typeset(verdict.text)]
    first, *others = sections_of([_linked(part, found, project) for part in told], "All benchmarks together")
    one, other = names_of_models(found)
    return {
        "sections": [*others, first, *_plan(found, verdict, among, next(iter(rankings.values()), None))],
        "targets": by_target(rows, listed) if len(listed) == len(rankings) else (),
        "among": max((math.comb(len(of_measured(one).ranking), 2) for one in rankings.values()), default=0),
        "more_rows": max(0, len(found.by_benchmark) + found.by_benchmark_left_out - _MOST_ROWS),
        "verdicts": [shown(among)],
        "drawn": bool(found.by_benchmark),
        "heading": f"{one} against {other} on {found.experiment} by {found.metric['name']}",
    }


def _plan(found: ModelComparison, alone: Verdict, among: Verdict, ranking: Ranking | None) -> Iterator[Section]:
    """How many trials tell the two apart, as strictly as the ranking in which they were picked; without one that is
    tested, as their own test."""
    tested = ranking if ranking and ranking.target == TARGETS[0] and is_tested(ranking) else None
    if alone.answer == "shown" and tested is None:
        return
    names = len(of_measured(tested).ranking) if tested and found.differs == ("model",) else 2
    pairs = math.comb(names, 2)
    if among.answer != "open":
        return
    with parts().database.reading() as connection:
        plan = plan_of_models(connection, found, Goal(found.alpha / pairs))
    if plan is not None:
        strict = [f"alpha: {found.alpha:g} over the {pairs:,} pairs of the ranking"] if pairs > 1 else []
        within = f" in the ranking of {names:,} models" if pairs > 1 else ""
        yield PLAN, parts_of([*plan_blocks(plan, within), Lines(tuple(strict))])


def _linked(part: Part, found: ModelComparison, project: str) -> Part:
    """The table of the benchmarks with their differences drawn, each with the address of the comparison of both grids;
    all of them together come first."""
    if part.kind != "table":
        return part
    part = with_first(part, part.keys, ("difference", "interval"))
    shown, whole = found.by_benchmark[:_MOST_ROWS], found.whole
    home = f"/projects/{quote(project)}/comparisons"
    kept = [one for one in carried_on() if one[0] in KEPT]
    links = [carried(home, [*parse_qsl(urlsplit(one.href).query), *kept]) if one.href else "" for one in shown]
    rows = [*part.rows[:_MOST_ROWS]]
    sizes = [(one.test.difference, one.test.interval) if one.test else (None, None) for one in shown]
    if whole is not None and whole.difference is not None:
        sizes, links = [(whole.difference, whole.interval), *sizes], ["", *links]
        rows = [_together(part, whole), *rows]
    return replace(part, rows=rows, links=links, forest=whiskers_of(sizes, around_zero=True))


def _together(part: Part, whole: WholeGap) -> list[str]:
    """All benchmarks together as the first row."""
    ends = [whole.interval.low, whole.interval.high] if whole.interval else []
    places = places_of([whole.difference, *ends])
    counts = {"cells": whole.n_common, "wins": whole.wins, "ties": whole.ties, "losses": whole.losses}
    cells = {name: str(count) for name, count in counts.items()} | {
        "benchmark": "all of these",
        "difference": typeset(signed(whole.difference, places)),
        "interval": typeset(intervals([whole.interval], places)[0]),
        "could show": rough(whole.detectable),
    }
    return [cells.get(name, "") for name, _ in part.heads]


_WANTS = "Name two models: they are compared on every benchmark that both have."
VIEW = View("compare", "Compare", "comparisons", "This comparison", "compared_models.html", _Parameters, find, beside,
            optional=MODEL_SIDES, wants=_WANTS, forms=(*TABLES, *DRAWN))  # fmt: skip
