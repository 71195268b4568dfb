"""View `ranking` of the page of results: the order with what the tests leave open, and the pairs."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from flask import request

from registry.api.answers import ask, progress
from registry.api.rankings import RankingParameters, ranking_asked
from registry.pages.bar import SIDES, carried_on, page_of_row
from registry.pages.blocks import Part, parts_of, sections_of, with_first
from registry.pages.compared_models import MODEL_SIDES
from registry.pages.drawings import MOST_IN_MATRIX, RAIL, bars_of, matrix_of, pairs_of, whiskers_of
from registry.pages.links import LOOKS, here, results_page
from registry.pages.palette import DIFFERENCES
from registry.pages.responses import state_of, tags_of
from registry.pages.sharing import cited_ranking
from registry.pages.targets import rankings_of, rows_of_targets
from registry.pages.view import DRAWN, TABLES, Asked, Found, View
from registry.query import RankingQuery
from registry.renderings.policies import TARGETS, friedman_blocks, policy_blocks
from registry.renderings.ranking import order_blocks
from registry.renderings.verdicts.ranking import MOST_LETTERS, group_word, is_tested, of_measured, why_untested
from registry.renderings.verdicts.targets import spoken
from registry.results.codec import read
from registry.results.ranking import Ranking

MOST_ROWS = 2_000
"""Names that the page shows."""
MOST_WITH_PAIRS = 100
"""Names up to which a ranking lists every pair."""
MOST_GROUPS = 50
"""Groups that the page lists; the rest is counted."""
MOST_LINKED = 12
"""Names of a group up to which it leads to a ranking of its own."""
PAIRS = "pairs_of"
"""The name whose pairs are listed where there are too many to list all."""


def find(asked: Asked) -> Found:
    """The ranking of the selection."""
    question = ranking_asked({**asked.query, PAIRS: ""}, asked.slug, asked.wanted)
    found = ask(question, asked.slug, patience=2.0)[1]
    if state_of(found) != "ready":
        waits = progress(found, question) if state_of(found) == "pending" else None
        return Found(found, tags=[waits], progress=waits)
    answer = of_measured(read(Ranking, found.document))
    best = None if request.args.get("target") or is_tested(answer) else rows_of_targets(asked, found)
    if best and (target := spoken(rankings_of(best).values()).target) != answer.target:
        return Found(found, lacking=[("target", target)], best=best)
    pairs = _pairs_row(question, asked.slug, answer)
    cited = {"cited": cited_ranking(answer)}
    return Found(found, lambda: _shown(answer, question, asked.slug, pairs) | cited, tags_of(pairs), best=best)


def _pairs_row(question: RankingQuery, project: str, answer: Ranking) -> Any:
    """The answer with the pairs of the wanted name, where the ranking has too many names to list all; else None."""
    wanted, names = request.args.get(PAIRS), {row.name for row in answer.ranking}
    if wanted not in names or len(names) <= MOST_WITH_PAIRS:
        return None
    return ask(replace(question, pairs_of=wanted), project, patience=2.0)[1]


def _shown(ranking: Ranking, question: RankingQuery, project: str, pairs: Any) -> dict[str, Any]:
    """The answer as the template takes it; `pairs` is the row of that with the pairs of a name, if there is one."""

    def two(names: Sequence[str]) -> str:
        kept = [one for one in carried_on() if one[0] not in SIDES]
        return results_page(project, "compare", [*kept, *zip(MODEL_SIDES, names, strict=True)])

    def alone(names: Sequence[str]) -> str:
        few = ranking.by in ("model", "variant") and 1 < len(names) <= MOST_LINKED
        return here(**{ranking.by: list(names), PAIRS: None}) if few else ""

    left_out = [f"{one.part} ({one.reason})" for one in ranking.left_out]
    lower = bool(ranking.scale and ranking.scale.direction == "lower")
    if len(ranking.ranking) > MOST_ROWS:
        left_out.append(
            f"names after the first {MOST_ROWS:,} of {len(ranking.ranking):,} (the JSON and the CSV have all)"
        )
        ranking = replace(ranking, ranking=ranking.ranking[:MOST_ROWS])
    listed = read(Ranking, pairs.document).pairs if state_of(pairs) == "ready" else ranking.pairs
    lettered = len(ranking.groups) <= MOST_LETTERS and why_untested(ranking) is None
    order = [part if lettered else _unlettered(part) for part in parts_of(order_blocks(ranking))]
    order[1:2] = [
        with_first(one, 2, ("mean", "interval", "score")) if one.kind == "table" else one for one in order[1:2]
    ]
    names, word = [one.name for one in ranking.ranking], group_word(ranking)
    groups = [one for one in ranking.groups if len(one) > 1]
    link_two = two if ranking.by == "model" else alone if len(names) > 2 else None
    return {
        "answer": ranking,
        "drawn": bool(ranking.ranking),
        "untested": why_untested(ranking) if ranking.ranking else None,
        "about": TARGETS[question.target],
        "order": order,
        "bars": bars_of(ranking),
        "names": names,
        "bars_width": RAIL,
        "lettered": lettered,
        "means": whiskers_of([(one.mean, one.mean_interval) for one in ranking.ranking]),
        "link_of": partial(page_of_row, project, question, question.by),
        "groups": [(group, alone(group)) for group in groups[:MOST_GROUPS]],
        "both": two(names) if len(names) == 2 and ranking.by == "model" and len(ranking.components) == 1 else "",
        "more_groups": max(0, len(groups) - MOST_GROUPS),
        "matrix": matrix_of(ranking, lower=lower, link=link_two),
        "most_in_matrix": MOST_IN_MATRIX,
        "asked": _given(),
        "pairs": pairs_of(listed, names, request.args.get(PAIRS, ""), link_two if len(names) > 2 else None),
        "pairs_pending": pairs is not None and state_of(pairs) == "pending",
        "further": sections_of(parts_of([*friedman_blocks(ranking.friedman, word), *policy_blocks(ranking)]), ""),
        "left_out": left_out,
        "bins": range(DIFFERENCES),
    }


def _unlettered(part: Part) -> Part:
    """A part of the order without groups: too many have no letters that say something."""
    kept = [place for place, (name, _) in enumerate(part.heads) if name != "group" or place == 1]
    return replace(
        part,
        heads=[part.heads[place] for place in kept],
        rows=[[row[place] for place in kept] for row in part.rows],
        lines=[one for one in part.lines if not one.startswith("group: ")],
    )


def _given() -> list[tuple[str, str]]:
    return [(name, text) for name, text in request.args.items(multi=True) if text and name not in (PAIRS, *LOOKS)]


VIEW = View("ranking", "Ranking", "rankings", "This ranking", "ranking.html", RankingParameters, find, own=(PAIRS,),
            forms=(*TABLES, (".tex", "LaTeX"), *DRAWN))  # fmt: skip
