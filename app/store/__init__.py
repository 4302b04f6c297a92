"""The store: SQLAlchemy tables and queries, SQLite by default."""
