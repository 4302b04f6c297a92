"""Nobody's unfinished match stands in the way of somebody else, who came to own the name meanwhile."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Tell unfinished matches by who opened them, too."""
    unfinished = sa.text("state IN ('committed', 'playing')")
    op.drop_index("ix_match_unfinished", "match")
    op.create_index(
        "ix_match_unfinished",
        "match",
        ["d", "level", "principal"],
        unique=True,
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
