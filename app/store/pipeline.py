"""PostgreSQL's pipeline: statements that need nothing of each other's answers travel together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy import event

from app.store.cursor import PIPELINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Engine

    from app.store.cursor import Rows


class Pipeline:
    """What a connection has yet to send.

    The server runs statements one after the other, in the order in which they were added, each on what is
    committed by then. One that fails keeps those after it, and the COMMIT among them, from running.
    """

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection
        self._waiting: list[tuple[psycopg.Cursor[Any], str, Sequence[object]]] = []

    def add(self, statement: str, values: Sequence[object]) -> Rows:
        """Have a statement sent with the next journey; its rows are there on demand."""
        cursor = self._connection.cursor()
        self._waiting.append((cursor, statement, values))
        return partial(self._rows, cursor)

    def send(self, *, commit: bool = False) -> None:
        """Send what waits, if anything does, and see that all of it succeeded.

        Args:
            commit: COMMIT travels with it.

        Raises:
            psycopg.Error: of the first statement that failed.
        """
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        fault: psycopg.Error | None = None
        try:
            with self._connection.pipeline():
                try:
                    for cursor, statement, values in waiting:
                        cursor.execute(statement, values)
                    if commit:
                        self._connection.commit()
                except psycopg.Error as error:
                    fault = (
                        error  # held here, because on its way out it would be logged for each that follows
                    )
        except psycopg.Error as error:
            fault = fault or error
        if fault is not None:
            raise fault

    def forget(self) -> None:
        """Send nothing of what waits."""
        self._waiting.clear()

    def _rows(self, cursor: psycopg.Cursor[Any]) -> list[tuple[Any, ...]]:
        if cursor.pgresult is None:
            self.send()
        return cursor.fetchall()


def give_pipelines(engine: Engine) -> None:
    """Give every connection of an engine a pipeline; what SQLAlchemy itself sends follows what waits."""

    @event.listens_for(engine, "connect")
    def connected(connection: psycopg.Connection[Any], record: Any) -> None:
        record.info[PIPELINE] = Pipeline(connection)

    @event.listens_for(engine, "before_cursor_execute")
    def send_first(connection: Connection, *_: object) -> None:
        _send(connection)

    @event.listens_for(engine, "commit")
    def commit(connection: Connection) -> None:
        _send(connection, commit=True)

    @event.listens_for(engine, "rollback")
    @event.listens_for(engine, "rollback_savepoint")
    def forget(connection: Connection, *_: object) -> None:
        if not connection.invalidated:
            connection.info[PIPELINE].forget()


def _send(connection: Connection, *, commit: bool = False) -> None:
    try:
        connection.info[PIPELINE].send(commit=commit)
    except psycopg.Error:
        if connection.connection.closed:
            connection.invalidate()  # or SQLAlchemy would ask it to roll back
        raise
