"""A judgement is recorded before the trials are computed that would decide it; these are added to it once."""

from alembic import op

revision = "0021"
down_revision = "0020"

_COLUMN = """
ALTER TABLE judgements ADD COLUMN is_complete boolean NOT NULL DEFAULT true;
COMMENT ON COLUMN judgements.is_complete IS 'false until the trials are added that would decide it';
"""
_LASTING = (
    "claim_id, number, generation, verdict, as_posted, beyond_noise, reason, inputs, fingerprint, methods_version"
)
_TRIGGERS = """
DROP TRIGGER judgements_are_never_changed ON judgements;
CREATE TRIGGER judgements_are_never_deleted BEFORE DELETE ON judgements
    FOR EACH ROW EXECUTE FUNCTION registry_refuse_change_of_items();
CREATE TRIGGER judgements_are_never_changed BEFORE UPDATE ON judgements
    FOR EACH ROW WHEN (old.is_complete OR ({new}) IS DISTINCT FROM ({old}))
    EXECUTE FUNCTION registry_refuse_change_of_items();
"""


def upgrade() -> None:
    op.execute(_COLUMN)
    names = [*_LASTING.split(", "), "judged_at"]
    new, old = (", ".join(f"{row}.{name}" for name in names) for row in ("new", "old"))
    op.execute(_TRIGGERS.format(new=new, old=old))
