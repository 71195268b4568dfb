"""Share links: what each opens, and the key that signs them."""

import os

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    keys = op.create_table(
        "signing_keys",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_signing_keys")),
    )
    op.bulk_insert(keys, [{"name": "shares", "secret": os.urandom(32)}])
    op.create_table(
        "shares",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column(
            "path", sa.Text(), nullable=False, comment="what may be read: this path, its forms and what is below"
        ),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_shares_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shares")),
    )
    op.create_index(op.f("ix_shares_project_id_id"), "shares", ["project_id", "id"], unique=False)
