"""What the writers of PostgreSQL committed last."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "commit_mark",
        sa.Column("writer", sa.String(32), nullable=False),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("writer", name="pk_commit_mark"),
        sqlite_with_rowid=False,
    )
