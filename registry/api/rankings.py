"""Routes of rankings: names in order over the slots that they share, and the noise floor beside them, which is how much
a value varies when nothing was changed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Any

from flask import Response
from marshmallow import INCLUDE, ValidationError, validates_schema

from registry.api.answers import Renderers, answer_to, answered, ask, part_asked, settled, unanswered
from registry.api.charts import PICTURES, forests
from registry.api.fields import AsOf, Choice, Name, Share
from registry.api.long_poll import preference, usual_wait
from registry.api.responses import of_values, rendered, wanted_form
from registry.api.schemas import (
    SelectedParameters,
    SharedSlotsParameters,
    about,
    fields_wanted,
    name_or_axis,
)
from registry.api.selections import selected, slice_of_request
from registry.api.smorest import Blueprint, ready, reply
from registry.errors import Invalid, NotFound, TryLater
from registry.grids.slices import Slice
from registry.query import METHODS, MISSING, TARGETS, RankingQuery, RepeatNoiseQuery
from registry.renderings.charts.forest import forest_of_ranking
from registry.renderings.ranking import page, ranking_csv, ranking_latex
from registry.renderings.sheet import forms
from registry.results.codec import from_bytes, read
from registry.results.ranking import Ranking
from registry.results.terms import unordered

_MISSING = (
    "What is made of slots that not all have. `matched` compares two names where both are measured; `available` takes"
    " what each has; `complete` keeps the slots that all have; `worst` fills a gap with the worst value; `zero_votes`"
    " lets who is missing lose to all who are there; `zero_points`, for Borda, gives who is missing no points, as mteb"
    " counts."
)


class RankingParameters(SelectedParameters, SharedSlotsParameters):
    fields = fields_wanted()
    by = name_or_axis(
        about(
            "`model`, `variant`, `axis:<name>`, or `benchmark`: on which one values are best, over the models that"
            " benchmarks share; the hardest is last."
        )
    )
    method = Choice(*METHODS, load_default="mean_difference", metadata=about("What scores come from."))
    missing = Choice(*MISSING, load_default="matched", metadata=about(_MISSING))
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))
    target = Choice(
        *TARGETS,
        load_default=TARGETS[0],
        metadata=about(
            "What could change the answer: running these cells again, other questions of these benchmarks, or other"
            " benchmarks."
        ),
    )
    pairs_of = Name(
        empty=True,
        load_default="",
        metadata=about(
            "List the pairs of this name, and no others. If not given: every pair up to a hundred names, above that"
            " those of neighbours in the order."
        ),
    )

    since = AsOf(
        metadata=about(
            "Also what changed since then: `change`. Read as `as_of` is, and earlier than that, or than now."
        )
    )

    @validates_schema
    def _check_since(self, data: dict[str, Any], **_options: Any) -> None:
        since, as_of = (datetime.fromisoformat(data[name]) if data.get(name) else None for name in ("since", "as_of"))
        if since and as_of and since >= as_of:
            raise ValidationError("must be before as_of", "since")

    @validates_schema
    def _check_target(self, data: dict[str, Any], **_options: Any) -> None:
        """Refuse to take the benchmarks that are ranked for a sample, or their questions for those of one."""
        # A page reads what is right of a question in which something is wrong, so that any field may be absent.
        if data.get("by") == "benchmark" and data.get("target", TARGETS[0]) != TARGETS[0]:
            raise ValidationError("must be rerun where benchmarks are ranked: they are no sample of others", "target")

    @validates_schema
    def _check_policy(self, data: dict[str, Any], **_options: Any) -> None:
        reason = unordered(data.get("method", METHODS[0]), data.get("missing", MISSING[0]))
        if reason is not None:
            raise ValidationError(f"{reason[0].upper()}{reason[1:]}.", "missing")


blp = Blueprint("rankings", "Who is better, how surely, and over what.")

_FORMS = ("json", "txt", "md", "csv", "tex", *PICTURES)
_WITHOUT_SENTENCE = ("json", "csv")


def _renderers(others: Sequence[Ranking]) -> Renderers:
    """What writes a ranking whose sentence also says what those of its other targets show."""
    return of_values(
        Ranking,
        {
            **forms(partial(page, others=others)),
            "csv": ranking_csv,
            "tex": partial(ranking_latex, others=others),
            **forests(Ranking, partial(forest_of_ranking, others=others)),
        },
        {"csv": ("pairs",)},
    )


_RENDERERS = _renderers(())


@blp.in_forms(
    "/projects/<project>/rankings",
    "getRanking",
    _FORMS,
    RankingParameters,
    "The ranking, or why it failed",
    "Ranking",
    parameters=["slice"],
    computed=True,
)
def read_ranking(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Rank over shared slots

    The usual question (an experiment and a metric) is answered from a stored document; another is computed when it is
    first asked (`202`, `Prefer: wait=10` waits) and kept. An answer for old inputs is never given.
    """
    question = ranking_asked(query, project, slice_of_request(query, RankingParameters))
    form = wanted_form(suffix, _FORMS)
    part = part_asked(query, Ranking, form)
    if form in _WITHOUT_SENTENCE:
        return answer_to(question, project, form, _RENDERERS, part)
    until = time.monotonic() + (preference() or usual_wait(form))
    meant, row = ask(question, project, patience=usual_wait(form))
    if not answered(row):
        return unanswered(meant, row, form)
    others = [one for one in [*rows_by_target(question, project, row, until).values()][1:] if answered(one)]
    mark = sha256(" ".join(one.etag for one in others).encode()).hexdigest()[:8]
    renderers = _renderers([read(Ranking, one.document) for one in others])
    return rendered(form, from_bytes(row.document), renderers, f"{row.etag}-{mark}")


def rows_by_target(question: RankingQuery, project: str, own: Any = None, until: float = 0.0) -> dict[str, Any]:
    """The rows of a ranking, which may be its `own`, and of those of its other targets, from the narrowest on; fewer
    where one is no question, or has to wait, or while the first is not computed. `until` then the others are awaited.
    """
    wanted, rows = question.target, {}
    others = [one for one in TARGETS if one != wanted and question.by != "benchmark"]
    asked = {one: replace(question, target=one, pairs_of="") for one in others}
    try:
        rows[wanted] = ask(question, project)[1] if own is None else own
        if answered(rows[wanted]):
            for one in asked:
                rows[one] = ask(asked[one], project, most=0.0, beside=True)[1]
            for one in asked:
                if not settled(rows[one]) and (left := until - time.monotonic()) > 0:
                    rows[one] = ask(asked[one], project, patience=left, most=left, beside=True)[1]
    except (Invalid, NotFound, TryLater):
        pass
    return rows


def ranking_asked(query: Mapping[str, Any], project: str, at: Slice) -> RankingQuery:
    """The question in these parameters."""
    own = ("by", "method", "missing", "alpha", "target", "pairs_of", "since")
    return RankingQuery(**selected(query, project, at), **{name: query[name] for name in own if name in query})


class RepeatNoiseParameters(SelectedParameters):
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))


noise_blp = Blueprint("noise", "What a value varies by of itself.")


@noise_blp.get("/projects/<project>/noise", operation="getNoise")
@noise_blp.arguments(RepeatNoiseParameters, location="query", unknown=INCLUDE)
@noise_blp.answers(
    reply(200, "The noise, or why nothing is known of it", ready("RepeatNoise"), example="noise", headers=["ETag"]),
    reply(202, "Pending"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)
def read_noise(query: dict[str, Any], project: str) -> Response:
    """Read the noise floor of an experiment

    By benchmark the spread between repeats of a cell, the one that their trials explain, and the ratio of variances.
    """
    at = slice_of_request(query, RepeatNoiseParameters)
    question = RepeatNoiseQuery(**selected(query, project, at), alpha=query["alpha"])
    return answer_to(question, project, "json", {})
