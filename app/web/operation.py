"""What an endpoint promises, written beside it: `/openapi.json` is made of these promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

E = TypeVar("E", bound=Callable[..., Any])

_ATTRIBUTE = "__operation__"


@dataclass(frozen=True, slots=True)
class Answer:
    """One good answer.

    Attributes:
        schema: the type of the JSON document; None for a text.
        headers: response headers, named in `app.web.openapi`.
        media_type: of a text; None if there is no body.
    """

    description: str
    schema: Any = None
    headers: tuple[str, ...] = ()
    media_type: str | None = "text/plain"


@dataclass(frozen=True, slots=True)
class Operation:
    """One call, but for method and path, which its route says, and its summary, which its docstring says.

    Attributes:
        answers: good answers by status.
        problems: slugs of what may go wrong, beside what may always go wrong.
        body: the type of the JSON body.
        media_types: other media types of the body.
        form: the text fields of a body that is a form.
        signs_in: whether the caller must say who they are.
        plays: whether the token of a match says so too.
        headers: request headers that it reads.
        query: query parameters, named in `app.web.openapi`.
        lenient: whether a value of theirs that makes no sense is left out.
    """

    answers: Mapping[int, Answer]
    problems: tuple[str, ...] = ()
    body: Any = None
    media_types: tuple[str, ...] = ()
    form: tuple[str, ...] = ()
    signs_in: bool = False
    plays: bool = False
    headers: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    lenient: bool = False


def promises(operation: Operation) -> Callable[[E], E]:
    """Write down what an endpoint promises."""

    def attach(endpoint: E) -> E:
        setattr(endpoint, _ATTRIBUTE, operation)
        return endpoint

    return attach


def operation_of(endpoint: object) -> Operation | None:
    """What an endpoint promises, if it does."""
    return getattr(endpoint, _ATTRIBUTE, None)
