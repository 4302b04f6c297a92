"""The tables. Migrations bring a database to this shape; queries are written against it."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    literal_column,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
# SQLite numbers rows by itself only in an INTEGER key.
_Serial = BigInteger().with_variant(Integer, "sqlite")

# Every event that was ever signed: scores; deletions of scores (NIP-09), whose username is their `d` and
# whose score is the one deleted; what is said of matches, whose `d` holds a colon, as no name does.
# `signed_at` is the highest wall clock seen so far, so it never falls but where an operator sets it back.
# `level` is the computer's that a proved score was played against; others have none.
event = Table(
    "event",
    metadata,
    Column("seq", _Serial, primary_key=True),
    Column("id", String(64), nullable=False, unique=True),
    Column("d", Text, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("pubkey", String(64), nullable=False),
    Column("username", Text, nullable=False),
    Column("score", Integer, nullable=False),
    Column("payload", Text, nullable=False),
    Column("signed_at", Float, nullable=False),
    Column("kind", Integer, nullable=False, server_default="31250"),
    Column("level", String(8)),
    # No two versions of an address share a second, whoever writes them.
    UniqueConstraint("d", "created_at"),
)
_deletion = event.c.kind == literal_column("5")
Index(
    "ix_event_deletion",
    event.c.d,
    event.c.created_at,
    sqlite_where=_deletion,
    postgresql_where=_deletion,
)

# A relay is down since no process can connect to it, and retired while the settings do not name it.
relay = Table(
    "relay",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("url", Text, nullable=False, unique=True),
    Column("down_since", Float),
    Column("retired", Boolean, nullable=False, server_default=false()),
)

# A process that delivers. What it holds is free again when it has not beaten for a while. An idle process
# loses its row without noticing, so an id is never given again.
process = Table(
    "process",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("beat", Float, nullable=False),
    sqlite_autoincrement=True,
)

# One event on its way to one relay. A pending row is held by a process, or waits for its due time. It fails
# since the first attempt that came to nothing, or since somebody asked to try it again.
delivery = Table(
    "delivery",
    metadata,
    Column("event_seq", _Serial, ForeignKey("event.seq"), primary_key=True, autoincrement=False),
    Column("relay_id", Integer, ForeignKey("relay.id"), primary_key=True, autoincrement=False),
    Column("state", String(10), nullable=False),
    Column("message", Text, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("due", Float),
    Column("holder", Integer),
    Column("failing_since", Float),
    sqlite_with_rowid=False,
)
# What a process holds in memory is in no index: most deliveries are answered before anybody looks for them.
waiting = (delivery.c.state == "pending") & delivery.c.holder.is_(None)
Index(
    "ix_delivery_waiting",
    delivery.c.relay_id,
    delivery.c.due,
    sqlite_where=waiting,
    postgresql_where=waiting,
)

# A game server's key: only its hash is kept. Scopes and names are divided by spaces; no names are no limit.
api_key = Table(
    "api_key",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("name", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("hash", String(64), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("revoked_at", BigInteger),
    Column("names", Text),
)

# Who owns a name: a principal's id. A row without an owner only bans.
name = Table(
    "name",
    metadata,
    Column("d", Text, primary_key=True),
    Column("owner", Text),
    Column("owned_since", BigInteger),
    Column("banned", Boolean, nullable=False),
    sqlite_with_rowid=False,
)

# What a request with an Idempotency-Key came to: the id is a hash of key and principal, the fingerprint is a
# hash of the body.
idempotency = Table(
    "idempotency",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("fingerprint", String(64), nullable=False),
    Column("event_seq", _Serial, ForeignKey("event.seq"), nullable=False),
    Column("improved", Boolean, nullable=False),
    Column("at", Float, nullable=False, index=True),
    sqlite_with_rowid=False,
)

# A signed token (NIP-98) that was used: it signs no second call.
seen_token = Table(
    "seen_token",
    metadata,
    Column("signature", String(128), primary_key=True),
    Column("created_at", BigInteger, nullable=False, index=True),
    sqlite_with_rowid=False,
)

# A hand against the computer. Seeds are secret until it is over. `token` is a hash of the one that plays it;
# `plays` are the cards so far, divided by spaces; `due` is when something is to be done about it: it expires,
# or its score is to be published.
match = Table(
    "match",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("d", Text, nullable=False, index=True),
    Column("username", Text, nullable=False),
    Column("principal", Text, nullable=False),
    Column("any_name", Boolean, nullable=False),
    Column("player", String(64), nullable=False),
    Column("level", String(8), nullable=False),
    Column("token", String(64), nullable=False),
    Column("server_seed", String(64), nullable=False),
    Column("salt", String(64), nullable=False),
    Column("commitment", String(64), nullable=False),
    Column("commitment_seq", _Serial, ForeignKey("event.seq"), nullable=False),
    Column("state", String(9), nullable=False),
    Column("due", Float),
    Column("client_seed", String(64)),
    Column("statement", Text),
    Column("plays", Text, nullable=False),
    Column("forfeit", String(8)),
    Column("unpublished", String(12)),
    Column("score_seq", _Serial, ForeignKey("event.seq"), unique=True),
    Column("transcript_seq", _Serial, ForeignKey("event.seq")),
    sqlite_with_rowid=False,
)
_has_due = match.c.due.is_not(None)
Index("ix_match_due", match.c.due, sqlite_where=_has_due, postgresql_where=_has_due)
_unfinished = match.c.state.in_(["committed", "playing"])
Index(
    "ix_match_unfinished",
    match.c.d,
    match.c.level,
    match.c.principal,
    unique=True,
    sqlite_where=_unfinished,
    postgresql_where=_unfinished,
)
_abandoned = match.c.state != "finished"
Index(
    "ix_match_abandoned",
    match.c.principal,
    match.c.commitment_seq,
    sqlite_where=_abandoned,
    postgresql_where=_abandoned,
)

# On PostgreSQL each writer numbers its transactions, and leaves the number of the last one that it committed.
commit_mark = Table(
    "commit_mark",
    metadata,
    Column("writer", String(32), primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("at", Float, nullable=False),
    sqlite_with_rowid=False,
)
