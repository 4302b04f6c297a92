"""What an endpoint promises, written beside it: `/openapi.json` is made of these promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from pydantic import BaseModel

E = TypeVar("E", bound=Callable[..., Any])

_ATTRIBUTE = "__operation__"


@dataclass(frozen=True, slots=True)
class Answer:
    """One good answer.

    Attributes:
        schema: the type of the JSON document; None for plain text.
        headers: response headers, named in `app.web.openapi`.
    """

    description: str
    schema: Any = None
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Operation:
    """One call, but for method and path, which its route says, and its summary, which its docstring says.

    Attributes:
        answers: good answers by status.
        problems: slugs of what may go wrong, beside what may always go wrong.
        body: the model of the JSON body.
        signs_in: whether the caller must say who they are.
        headers: request headers that it reads.
    """

    answers: Mapping[int, Answer]
    problems: tuple[str, ...] = ()
    body: type[BaseModel] | None = None
    signs_in: bool = False
    headers: tuple[str, ...] = field(default=())


def promises(operation: Operation) -> Callable[[E], E]:
    """Write down what an endpoint promises."""

    def attach(endpoint: E) -> E:
        setattr(endpoint, _ATTRIBUTE, operation)
        return endpoint

    return attach


def operation_of(endpoint: object) -> Operation | None:
    """What an endpoint promises, if it does."""
    return getattr(endpoint, _ATTRIBUTE, None)
