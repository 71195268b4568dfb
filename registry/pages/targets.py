"""Who is best, for each of the three targets: the rankings of a selection, and what the page of results says of them
above each of its views."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from flask import request

from registry.api.rankings import RankingParameters, ranking_asked, rows_by_target
from registry.grids.slices import PARAMETER
from registry.pages.blocks import ShownVerdict, shown
from registry.pages.parameters import salvaged
from registry.pages.responses import state_of
from registry.pages.view import Asked
from registry.renderings.numbers import typeset
from registry.renderings.policies import DRAWN
from registry.renderings.policies import TARGETS as WORDS
from registry.renderings.verdicts.ranking import lead_of, ranking_verdict, short_verdict
from registry.renderings.verdicts.targets import of_target, verdict_of_targets
from registry.results.codec import read
from registry.results.ranking import Ranking


def rows_of_targets(asked: Asked, own: Any = None) -> dict[str, Any]:
    """The rows of the rankings of a selection, that of the wanted target first, which may be the view's `own`; none
    where the question is none for it, or has to wait."""
    others = tuple({*request.args} - {*RankingParameters().fields})
    query, faults = salvaged(RankingParameters, others, ("experiment", "metric"), (PARAMETER,))
    if faults or not {"experiment", "metric"} <= query.keys():
        return {}
    if asked.view.name == "compare":
        query |= {"by": "model", "since": ""}
    return rows_by_target(ranking_asked({**query, "pairs_of": ""}, asked.slug, asked.wanted), asked.slug, own)


def rankings_of(rows: Mapping[str, Any]) -> dict[str, Ranking]:
    """Those that are computed."""
    return {one: read(Ranking, row.document) for one, row in rows.items() if state_of(row) == "ready"}


def who_is_best(
    rankings: Sequence[Ranking], beside: Callable[[Ranking], Iterable[str]] | None, *, listed: bool
) -> ShownVerdict:
    """The verdict over the targets, and what the view says `beside` it of the means; sizes, and what it is about, stand
    in the list of the targets where these are `listed`."""
    ranking = rankings[0]
    verdict = verdict_of_targets([of_target(one) for one in rankings], alone=not listed)
    size = [*lead_of(ranking)] if listed and len(ranking.ranking) > 1 else []
    more = (*(line for line in verdict.more if line not in size), *(beside(ranking) if beside else ()))
    return shown(replace(verdict, more=more), "What is easiest" if ranking.by == "benchmark" else "Who is best")


def by_target(rows: Mapping[str, Any], rankings: Mapping[str, Ranking]) -> list[tuple[str, str, str, str]]:
    """Each target with its words, the kind of its answer and what it says; none where two names were not compared."""
    if len(rows) < 2 or any(ranking_verdict(one).answer == "none" for one in rankings.values()):
        return []
    told = {one: short_verdict(rankings[one]) if one in rankings else ("none", "being computed") for one in rows}
    drawn = {one for one, found in rankings.items() if "exchangeable_cells" in found.assumes and one == "rerun"}
    words = {one: DRAWN if one in drawn else WORDS[one] for one in WORDS if one in told}
    return [(one, word, told[one][0], typeset(told[one][1])) for one, word in words.items()]
