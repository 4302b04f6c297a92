"""Names and their owners, keys limited to names, deletions, idempotency keys."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Until now every event was a score, and no key was limited to names."""
    op.add_column("event", sa.Column("kind", sa.Integer, nullable=False, server_default="31250"))
    op.create_index(
        "ix_event_deletion",
        "event",
        ["d", "created_at"],
        sqlite_where=sa.text("kind = 5"),
        postgresql_where=sa.text("kind = 5"),
    )
    op.add_column("api_key", sa.Column("names", sa.Text))
    op.create_table(
        "name",
        sa.Column("d", sa.Text, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("owned_since", sa.BigInteger),
        sa.Column("banned", sa.Boolean, nullable=False),
        sa.PrimaryKeyConstraint("d", name="pk_name"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "idempotency",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("fingerprint", sa.String(64), nullable=False),
        sa.Column("event_seq", _serial, nullable=False),
        sa.Column("improved", sa.Boolean, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_idempotency"),
        sa.ForeignKeyConstraint(["event_seq"], ["event.seq"], name="fk_idempotency_event_seq_event"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_idempotency_at", "idempotency", ["at"])
