"""Tokens that were used."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "seen_token",
        sa.Column("signature", sa.String(128), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("signature", name="pk_seen_token"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_seen_token_created_at", "seen_token", ["created_at"])
