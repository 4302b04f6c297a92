"""How many matches somebody has not played to their end."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Find a player's newest ones without a look at all matches."""
    abandoned = sa.text("state <> 'finished'")
    op.create_index(
        "ix_match_abandoned",
        "match",
        ["principal", "commitment_seq"],
        sqlite_where=abandoned,
        postgresql_where=abandoned,
    )
