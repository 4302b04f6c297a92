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
