"""Claims that are kept, and every judgement of them that said something new."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    _claims()
    _judgements()
    for trigger, event in (
        ("are_never_changed", "UPDATE OR DELETE ON judgements FOR EACH ROW"),
        ("are_never_emptied", "TRUNCATE ON judgements FOR EACH STATEMENT"),
    ):
        # The function of 0014: it lets `registry purge` delete.
        op.execute(
            f"CREATE TRIGGER judgements_{trigger} BEFORE {event} EXECUTE FUNCTION registry_refuse_change_of_items()"
        )
    _grant_as_revisions()


def _claims() -> None:
    op.create_table(
        "claims",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False, comment="SHA-256 of the normal form"),
        sa.Column("experiment", sa.Text(), nullable=False, comment="as the claim names it, or its grid does"),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column("query_key", sa.Uuid(), nullable=False, comment="the cached result that judges it"),
        sa.Column("normal", sa.Text(), nullable=False, comment="JSON; JSONB would write its numbers in another way"),
        sa.Column("text", sa.Text(), server_default="", nullable=False),
        sa.Column("source", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("judgement", sa.Integer(), server_default="0", nullable=False, comment="number of the latest one"),
        sa.Column("verdict", sa.Text(), nullable=True, comment="of the latest judgement"),
        sa.Column("token_id", sa.Uuid(), nullable=True, comment="who posted it"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("archived_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_claims")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_claims_project_id")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_claims_token_id")),
        sa.UniqueConstraint("project_id", "digest", name=op.f("uq_claims_project_id_digest")),
        comment="what somebody says of results, judged again whenever they change",
    )
    op.create_index(op.f("ix_claims_project_id_id"), "claims", ["project_id", "id"])
    op.create_index(op.f("ix_claims_project_id_query_key"), "claims", ["project_id", "query_key"])


def _judgements() -> None:
    fingerprint = "SHA-256 of verdicts, reason and numbers: the next judgement has another"
    op.create_table(
        "judgements",
        sa.Column("claim_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False, comment="of the cached result that it came with"),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("as_posted", sa.Text(), nullable=False),
        sa.Column("beyond_noise", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("document", sa.LargeBinary(), nullable=False, comment="the finished JSON answer, gzip"),
        sa.Column("inputs", postgresql.JSONB(), nullable=False, comment="grids with revision and digest"),
        sa.Column("fingerprint", sa.LargeBinary(), nullable=False, comment=fingerprint),
        sa.Column("methods_version", sa.Text(), nullable=False),
        sa.Column("judged_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("claim_id", "number", name=op.f("pk_judgements")),
        sa.ForeignKeyConstraint(["claim_id"], ["claims.id"], name=op.f("fk_judgements_claim_id")),
        comment="judgements of claims that differ from the one before; none is ever changed",
    )


def _grant_as_revisions() -> None:
    """Grant on judgements what is granted on the stored revisions, and on claims what is on aliases: a web process with
    a role of its own goes on."""
    for table, like in (("judgements", "stored_revisions"), ("claims", "aliases")):
        grants = sa.text(
            f"""SELECT format('GRANT %s ON {table} TO %s', privilege_type,
                    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
            FROM pg_class, aclexplode(relacl) WHERE oid = '{like}'::regclass AND grantee <> relowner"""
        )
        for statement in op.get_bind().scalars(grants).all():
            op.execute(statement)
