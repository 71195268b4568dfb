"""The schema `bi`: read-only views for SQL tools, and the facts of documents that they show."""

import gzip
from collections.abc import Callable, Mapping
from typing import Any

import orjson
import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0004"
down_revision = "0003"

_BATCH = 500
_MOST_SERIES, _MOST_CELLS = 200, 40
Document = Mapping[str, Any]


def upgrade() -> None:
    for table in ("statistics", "answers"):
        column = sa.Column(
            "facts", JSONB, nullable=True, comment="what the views of the schema bi show of the document"
        )
        op.add_column(table, column)
    op.create_table(
        "bi_readers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("role_name", sa.Text(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True, comment="NULL: every project"),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_bi_readers_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bi_readers")),
    )
    op.create_index(op.f("ix_bi_readers_role_name"), "bi_readers", ["role_name"], unique=False)
    _fill("statistics", ("grid_id", "revision"), _facts_of_statistics)
    _fill("answers", ("id",), _facts_of_answer)
    op.execute("CREATE SCHEMA bi")
    for statement in _VIEWS:
        op.execute(statement)


def _fill(table: str, keys: tuple[str, ...], facts_of: Callable[[Any], Any]) -> None:
    """The facts of what was computed before, a batch at a time."""
    connection, names = op.get_bind(), ", ".join(keys)
    own = " AND ".join(f"{key} = :{key}" for key in keys)
    places = ", ".join(f":after_{key}" for key in keys)
    head = f"SELECT {names}, document FROM {table} WHERE document IS NOT NULL"
    write = sa.text(f"UPDATE {table} SET facts = CAST(:facts AS jsonb) WHERE {own}")
    after: dict[str, Any] = {}
    while True:
        beyond = f" AND ({names}) > ({places})" if after else ""
        rows = connection.execute(sa.text(f"{head}{beyond} ORDER BY {names} LIMIT {_BATCH}"), after).all()
        if not rows:
            return
        found = [(row, facts_of(orjson.loads(gzip.decompress(row.document)))) for row in rows]
        connection.execute(
            write,
            [
                {key: getattr(row, key) for key in keys} | {"facts": facts and orjson.dumps(facts).decode()}
                for row, facts in found
            ],
        )
        after = {f"after_{key}": getattr(rows[-1], key) for key in keys}


_SEEN = """EXISTS (SELECT 1 FROM public.bi_readers b WHERE b.role_name = current_user
    AND (b.project_id IS NULL OR b.project_id = p.id))"""
"""A role sees the projects that it was given; current_user is who asks, not who owns the view."""
_NAMES = "p.slug AS project, g.id AS grid, g.experiment, g.benchmark, g.model, g.variant, g.metric"
_CURRENT = f"""FROM public.projects p
    JOIN public.grids g ON g.project_id = p.id AND g.deleted_at IS NULL
    JOIN public.revisions r ON r.grid_id = g.id AND r.number = g.revision
    WHERE p.deleted_at IS NULL AND {_SEEN}"""
_DERIVED = """FROM public.projects p
    JOIN public.grids g ON g.project_id = p.id AND g.deleted_at IS NULL
    JOIN public.statistics s ON s.grid_id = g.id AND s.revision = g.revision"""
_SEEN_DERIVED = f"WHERE p.deleted_at IS NULL AND {_SEEN}"


def _axis(number: int) -> str:
    """The name, label and number of the level on one axis of the cell at `place`."""
    axis = f"(r.axes -> {number})"
    sizes = [f"COALESCE(NULLIF(jsonb_array_length(r.axes -> {n} -> 'levels'), 0), 1)" for n in range(number + 1, 4)]
    stride = " * ".join(["1", *sizes])
    size = f"NULLIF(jsonb_array_length({axis} -> 'levels'), 0)"
    level = f"({axis} -> 'levels' -> (((v.place - 1) / ({stride})) % {size})::integer)"
    return f"""
        {axis} ->> 'name' AS axis_{number + 1},
        CASE jsonb_typeof({level}) WHEN 'object' THEN {level} ->> 'label' ELSE {level} #>> '{{}}' END
            AS level_{number + 1},
        CASE jsonb_typeof({level}) WHEN 'object' THEN ({level} ->> 'number')::float8
            WHEN 'number' THEN ({level} #>> '{{}}')::float8 END AS number_{number + 1}"""


_VIEWS = [
    f"""CREATE VIEW bi.grids WITH (security_barrier) AS SELECT {_NAMES}, r.metric ->> 'unit' AS unit,
        r.metric ->> 'direction' AS direction, (r.metric ->> 'lower')::float8 AS lower,
        (r.metric ->> 'upper')::float8 AS upper, r.number AS revision, encode(r.digest, 'hex') AS digest,
        ARRAY(SELECT jsonb_array_elements(r.axes) ->> 'name') AS axes, r.cell_count AS cells,
        cardinality(r.values) AS possible, r.labels, g.created_at,
        greatest(r.created_at, g.created_at) AS updated_at {_CURRENT}""",
    f"""CREATE VIEW bi.cells WITH (security_barrier) AS SELECT {_NAMES}, r.metric ->> 'unit' AS unit,
        r.number AS revision, {",".join(map(_axis, range(4)))}, v.value,
        COALESCE(r.trials, r.cell_trials[v.place]) AS trials,
        COALESCE(r.stderr[v.place], r.sd[v.place] / sqrt(NULLIF(r.repeats[v.place], 1))) AS stderr,
        greatest(r.created_at, g.created_at) AS updated_at
        FROM public.projects p
        JOIN public.grids g ON g.project_id = p.id AND g.deleted_at IS NULL
        JOIN public.revisions r ON r.grid_id = g.id AND r.number = g.revision,
        LATERAL unnest(r.values) WITH ORDINALITY AS v (value, place)
        {_SEEN_DERIVED} AND v.value IS NOT NULL""",
    f"""CREATE VIEW bi.trends WITH (security_barrier) AS SELECT {_NAMES}, s.revision, t ->> 0 AS along, t -> 1 AS at,
        (t ->> 2)::integer AS points, (t ->> 3)::float8 AS first, (t ->> 4)::float8 AS last,
        (t ->> 5)::float8 AS slope, (t ->> 6)::float8 AS slope_low, (t ->> 7)::float8 AS slope_high,
        (t ->> 8)::float8 AS p, (t ->> 9)::float8 AS q, t ->> 10 AS direction, t ->> 11 AS shape, t ->> 12 AS shape_at,
        (t ->> 13)::integer AS sharp_changes, s.computed_at
        {_DERIVED}, LATERAL jsonb_array_elements(s.facts -> 'trends') AS t {_SEEN_DERIVED}""",
    f"""CREATE VIEW bi.peaks WITH (security_barrier) AS SELECT {_NAMES}, s.revision, (t ->> 0)::float8 AS value,
        t -> 1 AS at, (t ->> 2)::float8 AS probability_best, t ->> 3 AS standing, s.computed_at
        {_DERIVED}, LATERAL jsonb_array_elements(s.facts -> 'peaks') AS t {_SEEN_DERIVED}""",
    f"""CREATE VIEW bi.coverage WITH (security_barrier) AS SELECT {_NAMES}, s.revision,
        (s.facts #>> '{{coverage,0}}')::integer AS cells, (s.facts #>> '{{coverage,1}}')::integer AS possible,
        (s.facts #>> '{{coverage,2}}')::integer AS components, s.computed_at
        {_DERIVED} {_SEEN_DERIVED} AND s.facts IS NOT NULL""",
    f"""CREATE VIEW bi.rankings WITH (security_barrier) AS SELECT p.slug AS project, a.experiment, a.metric, a.question,
        (t ->> 0)::integer AS rank, t ->> 1 AS name, (t ->> 2)::float8 AS score, (t ->> 3)::integer AS rank_low,
        (t ->> 4)::integer AS rank_high, (t ->> 5)::integer AS cells, (t ->> 6)::float8 AS wins,
        (t ->> 7)::float8 AS ties, (t ->> 8)::float8 AS losses, t -> 9 AS groups, a.computed_at
        FROM public.projects p JOIN public.answers a ON a.project_id = p.id AND a.answered = a.generation,
        LATERAL jsonb_array_elements(a.facts -> 'ranking') AS t {_SEEN_DERIVED}""",
]


# The facts as they were when the views above were made; what the service writes today may say more.


def _facts_of_statistics(document: Document) -> dict[str, Any]:
    """Of a grid's statistics: coverage, a list for each series, and one for each best or tied cell."""
    coverage = document.get("coverage") or {}
    return {
        "coverage": [coverage.get("cells"), coverage.get("possible"), coverage.get("component_count")],
        "trends": [_trend(one) for one in (document.get("series") or ())[:_MOST_SERIES]],
        "peaks": _peaks(document.get("peaks") or {}),
    }


def _trend(one: Document) -> list[Any]:
    interval, shape = one.get("slope_interval") or {}, one.get("shape") or {}
    sharp = sum(1 for step in one.get("changes") or () if step.get("sharp"))
    return [
        one["along"],
        one.get("at") or {},
        one.get("count"),
        one.get("first"),
        one.get("last"),
        one.get("slope"),
        interval.get("low"),
        interval.get("high"),
        one.get("trend_p") if one.get("trend_p") is not None else (one.get("mann_kendall") or {}).get("p"),
        one.get("q"),
        one.get("direction"),
        shape.get("kind"),
        shape.get("at"),
        sharp,
    ]


def _peaks(peaks: Document) -> list[list[Any]]:
    """Value, coordinate, probability of being best, and whether it is the best or tied with it."""
    best = peaks.get("best")
    if not best:
        return []
    chances = [(one["at"], one["value"], one["probability"]) for one in peaks.get("probability_best") or ()]
    tied = (peaks.get("best_set") or {}).get("at") or []
    found = [
        [best["value"], at, next((p for where, _, p in chances if where == at), None), "best"] for at in best["at"]
    ]
    found += [[value, at, p, "tied"] for at, value, p in chances if at in tied and at not in best["at"]]
    return found[:_MOST_CELLS]


def _facts_of_answer(document: Document) -> dict[str, Any] | None:
    """Of a ranking: a list for each name. None for other answers."""
    if "ranking" not in document:
        return None
    names = ("rank", "name", "score", "rank_low", "rank_high", "cells", "wins", "ties", "losses")
    rows = [[*(one.get(name) for name in names), one.get("group") or []] for one in document["ranking"]]
    return {"ranking": rows}
