"""Matches, and scores that they prove."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the table, and tell scores that are proved."""
    serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.add_column("event", sa.Column("level", sa.String(8)))
    op.create_table(
        "match",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("d", sa.Text, nullable=False),
        sa.Column("username", sa.Text, nullable=False),
        sa.Column("principal", sa.Text, nullable=False),
        sa.Column("any_name", sa.Boolean, nullable=False),
        sa.Column("player", sa.String(64), nullable=False),
        sa.Column("level", sa.String(8), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("server_seed", sa.String(64), nullable=False),
        sa.Column("salt", sa.String(64), nullable=False),
        sa.Column("commitment", sa.String(64), nullable=False),
        sa.Column("commitment_seq", serial, nullable=False),
        sa.Column("state", sa.String(9), nullable=False),
        sa.Column("due", sa.Float),
        sa.Column("client_seed", sa.String(64)),
        sa.Column("statement", sa.Text),
        sa.Column("plays", sa.Text, nullable=False),
        sa.Column("forfeit", sa.String(8)),
        sa.Column("unpublished", sa.String(12)),
        sa.Column("score_seq", serial),
        sa.Column("transcript_seq", serial),
        sa.PrimaryKeyConstraint("id", name="pk_match"),
        sa.UniqueConstraint("score_seq", name="uq_match_score_seq"),
        *(
            sa.ForeignKeyConstraint([name], ["event.seq"], name=f"fk_match_{name}_event")
            for name in ("commitment_seq", "score_seq", "transcript_seq")
        ),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_match_d", "match", ["d"])
    has_due = sa.text("due IS NOT NULL")
    op.create_index("ix_match_due", "match", ["due"], sqlite_where=has_due, postgresql_where=has_due)
    unfinished = sa.text("state IN ('committed', 'playing')")
    op.create_index(
        "ix_match_unfinished",
        "match",
        ["d", "level"],
        unique=True,
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
