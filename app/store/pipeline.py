"""PostgreSQL's pipeline: statements that need nothing of each other's answers travel together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from sqlalchemy import Connection, Engine

    from app.store.cursor import Rows

_KEY = "pipeline"


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
        with self._connection.pipeline():
            for cursor, statement, values in waiting:
                cursor.execute(statement, values)
            if commit:
                self._connection.commit()

    def forget(self) -> None:
        """Send nothing of what waits."""
        self._waiting.clear()

    def _rows(self, cursor: psycopg.Cursor[Any]) -> list[tuple[Any, ...]]:
        if cursor.pgresult is None:
            self.send()
        return cursor.fetchall()


def pipeline_of(connection: Connection) -> Pipeline:
    """The pipeline of a connection whose engine has them."""
    pipeline: Pipeline = connection.info[_KEY]
    return pipeline


def give_pipelines(engine: Engine) -> None:
    """Give every connection of an engine a pipeline; what SQLAlchemy itself sends, follows what waits."""

    @event.listens_for(engine, "connect")
    def connected(connection: psycopg.Connection[Any], record: Any) -> None:
        record.info[_KEY] = Pipeline(connection)

    @event.listens_for(engine, "before_cursor_execute")
    def send_first(connection: Connection, *_: object) -> None:
        pipeline_of(connection).send()

    @event.listens_for(engine, "commit")
    def commit(connection: Connection) -> None:
        pipeline_of(connection).send(commit=True)

    @event.listens_for(engine, "rollback")
    @event.listens_for(engine, "rollback_savepoint")
    def forget(connection: Connection, *_: object) -> None:
        if not connection.invalidated:
            pipeline_of(connection).forget()
