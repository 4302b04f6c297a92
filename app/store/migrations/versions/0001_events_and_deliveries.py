"""Events, relays, deliveries, API keys."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_serial = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "event",
        sa.Column("seq", _serial, nullable=False),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("d", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("pubkey", sa.String(64), nullable=False),
        sa.Column("username", sa.Text, nullable=False),
        sa.Column("score", sa.Integer, nullable=False),
        sa.Column("payload", sa.Text, nullable=False),
        sa.Column("signed_at", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_event"),
        sa.UniqueConstraint("id", name="uq_event_id"),
        sa.UniqueConstraint("d", "created_at", name="uq_event_d_created_at"),
    )
    op.create_table(
        "relay",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("url", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_relay"),
        sa.UniqueConstraint("url", name="uq_relay_url"),
    )
    op.create_table(
        "process",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("beat", sa.Float, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_process"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "delivery",
        sa.Column("event_seq", _serial, nullable=False),
        sa.Column("relay_id", sa.Integer, nullable=False),
        sa.Column("state", sa.String(10), nullable=False),
        sa.Column("message", sa.Text, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("due", sa.Float),
        sa.Column("holder", sa.Integer),
        sa.PrimaryKeyConstraint("event_seq", "relay_id", name="pk_delivery"),
        sa.ForeignKeyConstraint(["event_seq"], ["event.seq"], name="fk_delivery_event_seq_event"),
        sa.ForeignKeyConstraint(["relay_id"], ["relay.id"], name="fk_delivery_relay_id_relay"),
        sqlite_with_rowid=False,
    )
    op.create_index(
        "ix_delivery_waiting",
        "delivery",
        ["relay_id", "due"],
        sqlite_where=sa.text("state = 'pending' AND holder IS NULL"),
        postgresql_where=sa.text("state = 'pending' AND holder IS NULL"),
    )
    op.create_table(
        "api_key",
        sa.Column("id", sa.String(16), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("scopes", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("revoked_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("id", name="pk_api_key"),
    )
