"""The page of the difference between two revisions of a grid: its cells, metric, axes, labels and protocol."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from flask import Response

from registry.api import serializers
from registry.api.answers import ask
from registry.api.comparisons import ComparisonParameters, comparison_asked
from registry.api.context import grid_row, parts
from registry.operations.read import compare_revisions, find_grid, find_summary
from registry.operations.stored_grids import grid_summary, stored_grid
from registry.pages.blocks import Part
from registry.pages.comparison import of_two_grids
from registry.pages.front import pages
from registry.pages.heatmap import Heatmap, fits, heatmap_of
from registry.pages.links import data_path, to
from registry.pages.live import PENDING_SECONDS
from registry.pages.palette import DIFFERENCES
from registry.pages.responses import page, state_of, tags_of
from registry.pages.sharing import about_grid
from registry.query import ComparisonQuery
from registry.renderings.numbers import fixed, intervals, places_of, places_shown, plain_number, signed, typeset
from registry.renderings.verdicts.comparison import comparison_verdict
from registry.renderings.words import isolated, label, place, said
from registry.results.codec import read
from registry.results.comparison import Comparison
from registry.results.grid import GridDocument
from registry.storage.rows import MEMBERS

_LISTED = 200
_LARGEST = 2**31 - 1


@pages.get(f"/grids/<uuid:grid>/revisions/<int(min=1,max={_LARGEST}):a>..<int(min=1,max={_LARGEST}):b>")
def revisions(grid: uuid.UUID, a: int, b: int) -> Response:
    """Show the changes from revision a to b, the first cells of each kind; all of them are in the JSON."""
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader")
        found = compare_revisions(connection, grid, a, b)
        before, after = (serializers.summary(grid_summary(find_summary(connection, grid, number))) for number in (a, b))
        differ = bool(found.added or found.removed or found.changed)
        axes, other_axes = ({axis["name"] for axis in one["axes"]} for one in (before, after))
        question: ComparisonQuery | None = None
        if differ and axes == other_axes and before["metric"]["unit"] == after["metric"]["unit"]:
            # The later revision less the earlier one.
            asked = ComparisonParameters().load(_sides(before, after))
            question = comparison_asked(connection, row.project_id, asked)
    stored = stored_grid(row)
    answer: Any = ask(question, stored.project, patience=2.0)[1] if question else None
    state = state_of(answer)

    def context() -> dict[str, Any]:
        document = serializers.difference(found)
        compared = read(Comparison, answer.document) if state == "ready" else None
        return {
            **about_grid(stored, row),
            "found": document,
            "map": _map(before, after, compared) if question else None,
            "verdict": of_two_grids(comparison_verdict(compared)) if compared else None,
            "compared": to(f"/projects/{stored.project}/comparisons", **_sides(before, after)) if question else "",
            "state_word": state,
            "difference_bins": range(DIFFERENCES),
            "lists": [_changed(document, compared), *(_listed(document, kind) for kind in ("added", "removed"))],
            "others": list(changes_of(before, after, MEMBERS)),
            "json": data_path(f"/grids/{grid}/difference", row.visibility, [("from", str(a)), ("to", str(b))]),
            "csv": [(number, _cells_of(grid, row.visibility, number)) for number in (a, b)],
            "every": PENDING_SECONDS if state == "pending" else 0,
        }

    tags = [stored.etag, stored.current_revision, row.visibility, *tags_of(answer)]
    return page("revisions.html", tags, context)


def _cells_of(grid: uuid.UUID, visibility: str, revision: int) -> str:
    """Where the cells of a revision are; "" where the share does not reach."""
    return data_path(f"/grids/{grid}/cells.csv", visibility, [("revision", str(revision))])


def _sides(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the comparison of the later revision with the earlier one."""
    of_grid = {side: str(one["id"]) for side, one in (("baseline", before), ("contender", after))}
    return of_grid | {"baseline_revision": before["revision"], "contender_revision": after["revision"]}


def _map(before: dict[str, Any], after: dict[str, Any], compared: Comparison | None) -> Heatmap | None:
    """The difference as a table, where it fits into one, with the cells marked that differ by more than noise."""
    if not all(fits(cast(GridDocument, one)) for one in (before, after)):
        return None
    with parts().database.reading() as connection:
        documents = [
            serializers.grid(stored_grid(find_grid(connection, one["id"], one["revision"]))) for one in (before, after)
        ]
    return heatmap_of(documents[1], show="difference", baseline=documents[0], comparison=compared)


def _changed(document: dict[str, Any], compared: Comparison | None) -> tuple[str, int, Part]:
    """The first cells that changed, a row each of their fields that did; values with their difference, if compared."""
    cells = document["changed"][:_LISTED]
    gaps = compared.cells if compared else ()
    places = places_of([one.gap for one in gaps])
    told_of = intervals([one.interval for one in gaps], places)
    sizes = {
        place(one.at): [typeset(signed(one.gap, places)), typeset(" ".join(told.split()).replace("[ ", "["))]
        for one, told in zip(gaps, told_of, strict=True)
    }
    rows, sized, decimals = [], False, _decimals([one[side] for one in cells for side in ("from", "to")])
    for one in cells:
        for more, told in enumerate(differing(one["from"], one["to"], decimals=decimals)):
            size = sizes.get(place(one["at"])) if told[0] == "value" else None
            sized = sized or bool(size)
            rows.append(["" if more else place(one["at"]) or "the score", *told, *(size or ["", ""])])
    heads = [("Cell", False), ("what changed", False), ("before", True), ("after", True)]
    if sized:
        heads += [("difference", True), ("interval, uncorrected", True)]
    rows = [row[: len(heads)] for row in rows]
    return "changed", len(cells), Part("table", heads=heads, rows=rows, keys=1)


def _listed(document: dict[str, Any], kind: str) -> tuple[str, int, Part]:
    """The first cells of a kind, with the fields that they have."""
    cells = document[kind][:_LISTED]
    fields = [field for field in MEASURED if any(field in one for one in cells)]
    decimals = _decimals(cells)
    rows = [
        [place(one["at"]) or "the score", *(written(one.get(field), decimals[field]) for field in fields)]
        for one in cells
    ]
    heads = [("Cell", False), *((name_of(field), True) for field in fields)]
    return kind, len(cells), Part("table", heads=heads, rows=rows, keys=1)


Document = Mapping[str, Any]
MEASURED = ("value", "trials", "stderr", "repeats", "sd")
"""What a measured cell may carry, and how that is called here."""
_NAMES = {"stderr": "standard error", "sd": "standard deviation", "lower": "lower bound", "upper": "upper bound"}
_TOLD = 12
"""So many levels of an axis are named."""


def name_of(field: str) -> str:
    return _NAMES.get(field, said(field))


def _decimals(cells: Sequence[Document]) -> dict[str, int | None]:
    """The decimals to write each field of these cells with."""
    return {field: places_shown(one.get(field) for one in cells) for field in MEASURED}


def differing(
    old: Document, new: Document, fields: Sequence[str] = MEASURED, decimals: Mapping[str, int | None] | None = None
) -> list[tuple[str, str, str]]:
    """The fields that differ, each with what it was and what it is; "none" where there was or is none. What these
    decimals do not tell apart has all of its own."""
    found = []
    for field in fields:
        (a, b), places = (old.get(field), new.get(field)), (decimals or {}).get(field)
        if (written(a), a) != (written(b), b):
            places = places if written(a, places) != written(b, places) else None
            found.append((name_of(field), written(a, places), written(b, places)))
    return found


def written(found: Any, decimals: int | None = None) -> str:
    if found is None:
        return "none"
    if isinstance(found, bool):
        return "yes" if found else "no"
    if isinstance(found, (list, tuple)):
        return ", ".join(map(written, found)) or "none"
    if not isinstance(found, (int, float)):
        return str(found)
    return plain_number(found) if decimals is None else typeset(fixed(found, decimals))


def changes_of(old: Document, new: Document, members: Sequence[str]) -> Iterator[str]:
    """Sentences about metric, axes, labels, protocol and members of two grids, from the first to the second."""
    yield from _said("the metric: ", differing(old["metric"], new["metric"], list(new["metric"])))
    yield from _axes(old["axes"], new["axes"])
    names = sorted({*old["labels"], *new["labels"]})
    yield from _said("the label ", differing(old["labels"], new["labels"], names), isolated)
    yield from _said("", differing(old, new, [name for name in members if name != "protocol"]))
    ways = old.get("protocol") or {}, new.get("protocol") or {}
    yield from _said("the protocol's ", differing(*ways, sorted({*ways[0], *ways[1]})), isolated)


def _said(before: str, found: Sequence[tuple[str, str, str]], spoken: Any = str) -> Iterator[str]:
    for name, old, new in found:
        yield f"{before}{spoken(name)} {isolated(old)} \u2192 {isolated(new)}"


def _axes(old: Sequence[Document], new: Sequence[Document]) -> Iterator[str]:
    before, after = ({axis["name"]: axis for axis in axes} for axes in (old, new))
    yield from (f"the axis {isolated(name)} is new" for name in after if name not in before)
    yield from (f"the axis {isolated(name)} is gone" for name in before if name not in after)
    common = [name for name in before if name in after]
    if common != [name for name in after if name in before]:
        yield f"the order of the axes {', '.join(map(isolated, before))} \u2192 {', '.join(map(isolated, after))}"
    for name in common:
        yield from _axis(f"the axis {isolated(name)}: ", before[name], after[name])


def _axis(about: str, old: Document, new: Document) -> Iterator[str]:
    yield from _said(about, differing(old, new, ("kind", "unit", "scale")))
    before, after = ([label(level) for level in axis["levels"]] for axis in (old, new))
    came, went = [one for one in after if one not in set(before)], [one for one in before if one not in set(after)]
    if came:
        yield f"{about}with {_levels(came)}"
    if went:
        yield f"{about}without {_levels(went)}"
    if not came and not went and old["levels"] != new["levels"]:
        yield f"{about}its levels " + ("have other numbers" if before == after else "stand in another order")


def _levels(names: Sequence[str]) -> str:
    more = f" and {len(names) - _TOLD:,} more" if len(names) > _TOLD else ""
    return f"the {'level' if len(names) == 1 else 'levels'} {', '.join(map(isolated, names[:_TOLD]))}{more}"
