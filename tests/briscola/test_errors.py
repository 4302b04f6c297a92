"""The tree that the docstring draws is the tree that the classes form."""

import re

from app.briscola import errors


def test_the_drawn_tree_is_the_real_one():
    drawn: dict[str, str] = {}
    above: list[str] = []
    for line in errors.__doc__.splitlines():
        found = re.match(r"([│├└─ ]*)([A-Z][A-Za-z]+)  ", line)
        if found:
            depth = len(found[1]) // 4
            above = [*above[:depth], found[2]]
            if depth:
                drawn[above[-1]] = above[-2]
    real = {
        name: cls.__base__.__name__
        for name, cls in vars(errors).items()
        if isinstance(cls, type) and cls is not errors.BriscolaError
    }
    assert drawn == real
    assert errors.BriscolaError.__base__ is ValueError


def test_a_message_quotes_any_value_and_stays_short():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    assert errors.shown("D3") == "'D3'"
    assert errors.shown("\ud800\n") == r"'\ud800\n'"
    assert errors.shown([1] * 1000) == "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
    assert errors.shown(10**5000) == "a huge int"
    assert errors.shown([nested]) == "a huge list"
