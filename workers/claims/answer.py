"""The document of judged claims, from the rows of a scope: equal inputs give equal bytes.

Revisions that claims name: such a statement is judged by that revision, whatever came after it.
"""

from __future__ import annotations

import math
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, select

from registry.claims.claim import Claim, atoms_of, revisions_in
from registry.claims.dimensions import names_in
from registry.claims.grammar import read_claim
from registry.claims.normal import digest_of, normal_form
from registry.claims.reading import nearby
from registry.claims.wording import stated
from registry.grids.protocol import Rules
from registry.query import ClaimsQuery
from registry.results.codec import to_document
from registry.results.inputs import Warning
from registry.results.judgement import (
    MOST_INPUTS,
    ClaimInput,
    ClaimNumbers,
    JudgedPart,
    Judgement,
    NamedCell,
    TrialsNeeded,
    Verdict,
)
from registry.storage.keys import among, of_grid
from registry.storage.rows import grid_of
from registry.storage.tables import grids, revisions
from workers.claims.facts import Facts, Source
from workers.claims.judgement import Group, Judged, judge_claim, warnings_of
from workers.claims.telling import sentence, with_more_trials
from workers.claims.trials import trials_needed
from workers.scope import canonical_names, matches
from workers.statistics.judging import Span

MOST_CELLS = 1_000_000
"""Cells of all grids that claims are read with; claims that name benchmark, model or variant read those grids only."""
MOST_PARTS = 100


FORMER_MARKS = (revisions.c.number, revisions.c.digest)


def former_rows(
    connection: Connection, project_id: Any, claims: Sequence[Claim], columns: Iterable[Any] = revisions.c
) -> Sequence[Any]:
    """Rows of the revisions that some claims name, with the names of their grids; none of a grid that was deleted."""
    named = sorted({one for claim in claims for one in revisions_in(claim)})
    if not named:
        return []
    statement = (
        select(grids.c.id, grids.c.benchmark, grids.c.model, grids.c.variant, *columns)
        .join_from(grids, revisions, of_grid(revisions))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
        .where(*among((uuid.UUID(grid), number) for grid, number in named))
    )
    return connection.execute(statement).all()


def facts_for(claim: Claim, current: Facts, former: Sequence[Source]) -> Facts:
    """The facts that a claim is judged by: with the revisions that it names, and without the current ones where all of
    its statements name one, so that nothing of these can change its verdict."""
    named = revisions_in(claim)
    if not named:
        return current
    mine = [one._replace(former=True) for one in former if (one.id, one.revision) in named]
    every = all(atom.about.revision is not None for _, atom in atoms_of(claim.says))
    return Facts.of([*(() if every else current.sources), *mine], current.rules, current.known)


def claims_document(
    query: ClaimsQuery,
    rows: Sequence[Any],
    aliases: Mapping[tuple[str, str], str],
    rules: Rules,
    former: Sequence[Any] = (),
) -> dict[str, Any]:
    """Verdicts on all claims of the query by these grids, under what the experiment declares of protocols. `former`:
    rows of the revisions that claims name."""
    judged = tuple(judgement_of(one) for one in judged_claims(query, rows, aliases, rules, former))
    return {"experiment": query.experiment, "metric": query.metric, "judgements": to_document(judged)}


def judged_claims(
    query: ClaimsQuery, rows: Sequence[Any], aliases: Mapping[tuple[str, str], str], rules: Rules, former: Sequence[Any]
) -> Iterator[Judged]:
    """The claims of the query with the answers of all layers, one after the other."""
    facts = Facts.of(sources_of([row for row in rows if matches(query, canonical_names(row, aliases))], aliases), rules)
    named = sources_of(former, aliases)
    for claim in claims_of(query):
        yield judge_claim(claim, facts_for(claim, facts, named))


def claims_of(query: ClaimsQuery) -> list[Claim]:
    """The claims that a query asks about."""
    return [read_claim(orjson.loads(text)) for text in query.claims]


def sources_of(rows: Sequence[Any], aliases: Mapping[tuple[str, str], str]) -> list[Source]:
    """The grids in rows of revisions, in the order of their names."""
    sources = [
        Source(
            canonical_names(row, aliases), str(row.id), row.number, f"sha256:{bytes(row.digest).hex()}", grid_of(row)
        )
        for row in rows
    ]
    return sorted(sources, key=lambda one: (*(one.names[kind] for kind in sorted(one.names)), one.id))


def judgement_of(judged: Judged, trials: Callable[[Judged], TrialsNeeded | None] = trials_needed) -> Judgement:
    """The verdict with its numbers, inputs and sentence, and the `trials` that would decide it."""
    claim = judged.claim
    posted, noise = (_verdict(judged, layer) for layer in ("posted", "noise"))
    headline = noise if claim.strength == "noise" else posted
    needed = trials(judged)
    robust = None if judged.ill_posed or posted == "not_decidable" else _verdict(judged, "declared") == posted
    every = [_part(one) for one in judged.groups]
    return Judgement(
        claim=normal_form(claim),
        digest=digest_of(claim),
        verdict=headline,
        as_posted=posted,
        beyond_noise=noise,
        reason=_reason(judged, headline, noise),
        robust_to_missing=robust,
        depends_on_reading=_verdict(judged, "bare") != posted,
        alpha=claim.alpha,
        parts=tuple(every[:MOST_PARTS]),
        parts_left_out=max(0, len(every) - MOST_PARTS),
        inputs=tuple(_inputs(judged))[:MOST_INPUTS],
        sentence=sentence(judged, every, posted, noise) + with_more_trials(needed),
        trials_needed=needed,
        look=None if claim.looks == "fixed" else judged.look.number,
        warnings=(*unknown_names(claim, judged.facts.known), *_doubts(judged)),
    )


def unknown_names(claim: Claim, known: Mapping[str, Collection[str]]) -> Iterator[Warning]:
    """A warning for each name that no grid has: it may be published later, or be misspelt."""
    for kind, name in names_in(claim):
        if name not in known[kind]:
            yield Warning("unknown_name", f'No grid here has the {kind} "{name}"{nearby(name, known[kind]) or "."}')


def _doubts(judged: Judged) -> Iterator[Warning]:
    return warnings_of(judged.facts, (owners for group in judged.groups for owners in group.together))


def _verdict(judged: Judged, layer: Any) -> Verdict:
    return "ill_posed" if judged.ill_posed else judged.answers[layer]


def _reason(judged: Judged, headline: Verdict, noise: Verdict) -> str | None:
    """Why the headline is not decided, else why noise does not decide."""
    layer: Any = "posted" if headline == "not_decidable" and judged.claim.strength == "numbers" else "noise"
    if "not_decidable" not in (headline, noise):
        return None
    if not judged.groups:
        return "not_published"
    found = (one.found[layer].reason for one in judged.groups)
    return next((reason for reason in found if reason), "missing_cells")


def _part(group: Group) -> JudgedPart:
    posted, noise = group.found["posted"], group.found["noise"]
    span = posted.span
    facts = _numbers(noise.span)
    return JudgedPart(
        part=group.pointer,
        group=group.levels,
        as_posted=posted.answer,
        beyond_noise=noise.answer,
        reason=posted.reason or noise.reason,
        numbers=ClaimNumbers(
            estimate=span.low if span is not None and span.low == span.high and math.isfinite(span.low) else None,
            low=facts[0],
            high=facts[1],
            compared_with=stated(group.atom.says),
            cells=_named(group),
            over=posted.over or None,
            out_of=posted.total,
            ties=posted.ties,
            smallest_p=noise.smallest_p,
        ),
    )


def _numbers(span: Span | None) -> tuple[float | None, float | None]:
    if span is None:
        return None, None
    low, high = (end if math.isfinite(end) else None for end in (span.low, span.high))
    return low, high


def _named(group: Group) -> tuple[NamedCell, ...]:
    facts = group.facts
    measured = [cell for cell in group.found["posted"].cells if facts.present[cell]]
    return tuple(NamedCell(facts.place(cell), float(facts.value(cell))) for cell in measured)


def _inputs(judged: Judged) -> list[ClaimInput]:
    owners = sorted({int(owner) for group in judged.groups for owner in judged.facts.owner[group.cells]})
    sources = [judged.facts.sources[owner] for owner in owners]
    # A claim may name the revision that is current, and the grid as well.
    return list(dict.fromkeys(ClaimInput(one.id, one.revision, one.digest) for one in sources))
