"""Renderers as the interface uses them: they take JSON documents."""

import json
from collections.abc import Callable, Mapping
from difflib import unified_diff
from typing import Any

from registry.api.responses import of_values
from registry.renderings import comparison, ranking, statistics, thresholds
from registry.renderings.sheet import forms
from registry.results.codec import from_document
from registry.results.comparison import Comparison
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics, Thresholds

Document = Mapping[str, Any]


def of(part: str) -> Mapping[str, Callable[[Any], str]]:
    """The renderers of a part of a grid's statistics, by form."""
    return of_values(Statistics, statistics.of(part))


def otherwise(first: Any, other: Any) -> str:
    """What a document has otherwise than the first of its kind, line by line: of a few that are alike one is whole."""
    written = (json.dumps(one, indent=1, ensure_ascii=False).splitlines() for one in (first, other))
    return "\n".join(list(unified_diff(*written, n=0, lineterm=""))[2:])


def read(document: Document | None) -> Statistics | None:
    return None if document is None else from_document(Statistics, document)


def compared(document: Document) -> Comparison:
    return from_document(Comparison, document)


def read_ranking(document: Document) -> Ranking:
    return from_document(Ranking, document)


def _taking(kind: type[Any], render: Callable[[Any], str]) -> Callable[[Document], str]:
    return lambda document: render(from_document(kind, document))


thresholds_text = _taking(Thresholds, forms(thresholds.page)["txt"])
thresholds_csv = _taking(Thresholds, thresholds.thresholds_csv)
comparison_text, comparison_markdown = (_taking(Comparison, forms(comparison.page)[form]) for form in ("txt", "md"))
comparison_csv = _taking(Comparison, comparison.comparison_csv)
ranking_text, ranking_markdown = (_taking(Ranking, forms(ranking.page)[form]) for form in ("txt", "md"))
ranking_csv = _taking(Ranking, ranking.ranking_csv)
