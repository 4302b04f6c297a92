"""Deliveries that fail for long, and relays that are down or no longer configured."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("delivery", sa.Column("failing_since", sa.Float))
    op.add_column("relay", sa.Column("down_since", sa.Float))
    op.add_column("relay", sa.Column("retired", sa.Boolean, nullable=False, server_default=sa.false()))
