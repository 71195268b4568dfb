"""The first schema: projects, tokens, names, grids, revisions, derivations, statistics, answers."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "marks",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("experiment", sa.Text(), nullable=True, comment="NULL: every experiment of the project"),
        sa.Column("metric", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_marks")),
    )
    op.create_index(op.f("ix_marks_project_id"), "marks", ["project_id"], unique=False)
    op.create_table(
        "projects",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("visibility IN ('private', 'public')", name=op.f("ck_projects_visibility")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_projects")),
    )
    op.create_index(
        "uq_projects_slug", "projects", ["slug"], unique=True, postgresql_where=sa.text("deleted_at IS NULL")
    )
    op.create_table(
        "aliases",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('model', 'benchmark', 'variant', 'experiment')", name=op.f("ck_aliases_kind")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_aliases_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_aliases")),
        sa.UniqueConstraint("project_id", "kind", "alias", name=op.f("uq_aliases_project_id_kind_alias")),
    )
    op.create_table(
        "answers",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("experiment", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("question", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("question_key", sa.Uuid(), nullable=False, comment="hash of the question"),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("lease", sa.Uuid(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True, comment="why the last attempt failed"),
        sa.Column(
            "generation", sa.Integer(), server_default="1", nullable=False, comment="grows when an input changes"
        ),
        sa.Column(
            "answered",
            sa.Integer(),
            server_default="0",
            nullable=False,
            comment="the generation that the document is for",
        ),
        sa.Column("document", sa.LargeBinary(), nullable=True, comment="the finished JSON answer, gzip"),
        sa.Column("etag", sa.Text(), nullable=True),
        sa.Column("methods_version", sa.Text(), nullable=True),
        sa.Column("seconds", sa.REAL(), server_default="0", nullable=False, comment="what the last computation took"),
        sa.Column("computed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("asked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("state IN ('pending', 'ready', 'failed')", name=op.f("ck_answers_state")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_answers_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint("project_id", "question_key", name=op.f("uq_answers_project_id_question_key")),
    )
    op.create_index(
        "ix_answers_pending", "answers", ["due_at"], unique=False, postgresql_where=sa.text("state = 'pending'")
    )
    op.create_index(
        op.f("ix_answers_project_id_experiment_metric"), "answers", ["project_id", "experiment", "metric"], unique=False
    )
    op.create_table(
        "grids",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column(
            "identity", sa.Uuid(), nullable=False, comment="hash of the names below; they may be too long for an index"
        ),
        sa.Column("experiment", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False, comment="the current one"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("deleted_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_grids_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_grids")),
        sa.UniqueConstraint("project_id", "identity", name=op.f("uq_grids_project_id_identity")),
    )
    op.create_index(
        op.f("ix_grids_project_id_experiment_metric"), "grids", ["project_id", "experiment", "metric"], unique=False
    )
    op.create_index(op.f("ix_grids_project_id_model"), "grids", ["project_id", "model"], unique=False)
    op.create_index(
        op.f("ix_grids_project_id_updated_at_id"), "grids", ["project_id", "updated_at", "id"], unique=False
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.SmallInteger(), nullable=False),
        sa.Column("headers", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_idempotency_keys_project_id")),
        sa.PrimaryKeyConstraint("project_id", "key", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "names",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_names_project_id")),
        sa.PrimaryKeyConstraint("project_id", "kind", "name", name=op.f("pk_names")),
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("public_id", sa.Text(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True, comment="NULL: every project"),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("role IN ('reader', 'writer', 'admin')", name=op.f("ck_tokens_role")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_tokens_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("public_id", name=op.f("uq_tokens_public_id")),
    )
    op.create_index(op.f("ix_tokens_project_id_id"), "tokens", ["project_id", "id"], unique=False)
    op.create_table(
        "revisions",
        sa.Column("grid_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("metric", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("axes", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("cell_count", sa.Integer(), nullable=False),
        sa.Column("values", sa.ARRAY(sa.Double()), nullable=False, comment="row-major, NULL where nobody measured"),
        sa.Column("trials", sa.BigInteger(), nullable=True, comment="one number for every cell"),
        sa.Column("cell_trials", sa.ARRAY(sa.BigInteger()), nullable=True),
        sa.Column("stderr", sa.ARRAY(sa.Double()), nullable=True),
        sa.Column("repeats", sa.ARRAY(sa.Integer()), nullable=True),
        sa.Column("sd", sa.ARRAY(sa.Double()), nullable=True),
        sa.Column("reasons", postgresql.JSONB(astext_type=sa.Text()), nullable=True),
        sa.Column("labels", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("warnings", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'[]'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("token_id", sa.Uuid(), nullable=True, comment="who posted it; NULL: the server itself"),
        sa.CheckConstraint("number > 0", name=op.f("ck_revisions_number")),
        sa.ForeignKeyConstraint(["grid_id"], ["grids.id"], name=op.f("fk_revisions_grid_id")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_revisions_token_id")),
        sa.PrimaryKeyConstraint("grid_id", "number", name=op.f("pk_revisions")),
    )
    op.create_index(
        op.f("ix_revisions_labels"),
        "revisions",
        ["labels"],
        unique=False,
        postgresql_using="gin",
        postgresql_ops={"labels": "jsonb_path_ops"},
        postgresql_where=sa.text("labels <> '{}'"),
    )
    op.create_table(
        "derivations",
        sa.Column("grid_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("attempts", sa.SmallInteger(), server_default="0", nullable=False),
        sa.Column("lease", sa.Uuid(), nullable=True),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True, comment="why the last attempt failed"),
        sa.Column("methods_version", sa.Text(), nullable=True),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("state IN ('pending', 'ready', 'failed')", name=op.f("ck_derivations_state")),
        sa.ForeignKeyConstraint(
            ["grid_id", "revision"],
            ["revisions.grid_id", "revisions.number"],
            name=op.f("fk_derivations_grid_id_revision"),
        ),
        sa.PrimaryKeyConstraint("grid_id", "revision", name=op.f("pk_derivations")),
    )
    op.create_index(
        "ix_derivations_failed", "derivations", ["grid_id"], unique=False, postgresql_where=sa.text("state = 'failed'")
    )
    op.create_index(
        "ix_derivations_pending", "derivations", ["due_at"], unique=False, postgresql_where=sa.text("state = 'pending'")
    )
    op.create_table(
        "statistics",
        sa.Column("grid_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("methods_version", sa.Text(), nullable=False),
        sa.Column("etag", sa.Text(), nullable=False),
        sa.Column("document", sa.LargeBinary(), nullable=False, comment="the finished JSON answer, gzip"),
        sa.Column("computed_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["grid_id", "revision"],
            ["revisions.grid_id", "revisions.number"],
            name=op.f("fk_statistics_grid_id_revision"),
        ),
        sa.PrimaryKeyConstraint("grid_id", "revision", name=op.f("pk_statistics")),
    )
    for table in ("statistics", "answers"):
        # Compressed already: PostgreSQL need not try again.
        op.execute(f"ALTER TABLE {table} ALTER COLUMN document SET STORAGE EXTERNAL")
