"""Tables and columns named after what they hold, and views by the former names for the release before.

Release 0.1.0 reads and writes `answers` and `marks`. While an upgrade is under way its processes go through these two
views, which PostgreSQL updates by itself: INSERT with ON CONFLICT DO NOTHING, UPDATE, DELETE with RETURNING and SELECT
FOR UPDATE SKIP LOCKED work, and columns that a statement leaves out get the table's defaults. The other tables came
after 0.1.0 and need none. A later release drops the views.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_TABLES = {
    "answers": "cached_results",
    "marks": "invalidations",
    "scopes": "pair_sum_scopes",
    "tallies": "pair_sums",
    "counted": "pair_sum_inputs",
    "uncounted": "pair_sum_queue",
    "audit": "audit_log",
}
_COLUMNS = {
    "cached_results": {
        "question": "query",
        "question_key": "query_key",
        "answered": "document_generation",
        "usual": "is_default",
        "asked_at": "read_at",
    },
    "pair_sum_scopes": {"whole": "is_complete"},
    "pair_sums": {"place": "position"},
    "audit_log": {"act": "action"},
}
_CONSTRAINTS = {
    "cached_results": {
        "pk_answers": "pk_cached_results",
        "fk_answers_project_id": "fk_cached_results_project_id",
        "ck_answers_state": "ck_cached_results_state",
        "uq_answers_project_id_question_key": "uq_cached_results_project_id_query_key",
    },
    "invalidations": {"pk_marks": "pk_invalidations"},
    "pair_sum_scopes": {
        "pk_scopes": "pk_pair_sum_scopes",
        "fk_scopes_project_id": "fk_pair_sum_scopes_project_id",
        "uq_scopes_project_id_experiment_metric": "uq_pair_sum_scopes_project_id_experiment_metric",
    },
    "pair_sums": {
        "pk_tallies": "pk_pair_sums",
        "fk_tallies_scope_id": "fk_pair_sums_scope_id",
        "uq_tallies_scope_id_name": "uq_pair_sums_scope_id_name",
    },
    "pair_sum_inputs": {
        "pk_counted": "pk_pair_sum_inputs",
        "fk_counted_scope_id": "fk_pair_sum_inputs_scope_id",
        "fk_counted_grid_id": "fk_pair_sum_inputs_grid_id",
    },
    "pair_sum_queue": {"pk_uncounted": "pk_pair_sum_queue"},
    "audit_log": {"pk_audit": "pk_audit_log"},
}
_INDEXES = {
    "ix_answers_pending": "ix_cached_results_pending",
    "ix_answers_project_id_experiment_metric": "ix_cached_results_project_id_experiment_metric",
    "ix_marks_project_id": "ix_invalidations_project_id",
    "ix_uncounted_scope_id_benchmark": "ix_pair_sum_queue_scope_id_benchmark",
    "ix_audit_project_id_id": "ix_audit_log_project_id_id",
}
_SEQUENCES = {"marks_id_seq": "invalidations_id_seq", "uncounted_id_seq": "pair_sum_queue_id_seq"}
_TRIGGERS = {
    "audit_are_never_changed": "audit_log_is_never_changed",
    "audit_are_never_emptied": "audit_log_is_never_emptied",
}
_VIEWS = {
    "answers": """SELECT id, project_id, experiment, metric, query AS question, query_key AS question_key, state,
        due_at, attempts, lease, leased_until, reason, generation, document_generation AS answered, document, etag,
        methods_version, seconds, computed_at, read_at AS asked_at FROM cached_results""",
    "marks": "SELECT id, project_id, experiment, metric FROM invalidations",
}
_COMMENTS = {
    "cached_results.query_key": "hash of the query",
    "cached_results.document_generation": "the generation that the document was computed for",
    "cached_results.is_default": "whether every parameter has its default; such a result is computed before it is read",
    "pair_sum_scopes.is_complete": "false: the sums are to be computed from nothing",
    "pair_sums.sums": "of the pairs with each position, as the grids of this name came",
    "pair_sum_inputs.updated_at": "the grid's, when it was added to the sums",
    "pair_sum_queue.benchmark": "that of the grid: they are added benchmark by benchmark",
}
_QUEUE = "grids that changed since they were added to the sums; the same one may stand here often"


def upgrade() -> None:
    for old, new in _TABLES.items():
        op.execute(f"ALTER TABLE {old} RENAME TO {new}")
        for kind, before, after in _renamings(new):
            op.execute(f"ALTER TABLE {new} RENAME {kind} {before} TO {after}")
    for kind, names in (("INDEX", _INDEXES), ("SEQUENCE", _SEQUENCES)):
        for old, new in names.items():
            op.execute(f"ALTER {kind} {old} RENAME TO {new}")
    for old, new in _TRIGGERS.items():
        op.execute(f"ALTER TRIGGER {old} ON audit_log RENAME TO {new}")
    for column, comment in _COMMENTS.items():
        op.execute(f"COMMENT ON COLUMN {column} IS '{comment.replace(chr(39), chr(39) * 2)}'")
    op.execute(f"COMMENT ON TABLE pair_sum_queue IS '{_QUEUE}'")
    for view, query in _VIEWS.items():
        op.execute(f"CREATE VIEW {view} AS {query}")
        op.execute(f"COMMENT ON VIEW {view} IS 'for processes of release 0.1.0 while an upgrade is under way'")
        _grant_as(_TABLES[view], view)


def _renamings(table: str) -> list[tuple[str, str, str]]:
    columns, constraints = _COLUMNS.get(table, {}), _CONSTRAINTS[table]
    return [("COLUMN", *pair) for pair in columns.items()] + [("CONSTRAINT", *pair) for pair in constraints.items()]


def _grant_as(table: str, view: str) -> None:
    """Grant on the view what is granted on the table: the role of the old web process goes on with what it had."""
    grants = sa.text(
        """SELECT format('GRANT %s ON %I TO %s', privilege_type, :view,
                CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
        FROM pg_class, aclexplode(relacl) WHERE oid = CAST(:table AS regclass) AND grantee <> relowner"""
    )
    for statement in op.get_bind().scalars(grants, {"table": table, "view": view}).all():
        op.execute(statement)
