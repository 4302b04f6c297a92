"""Entity tags as RFC 9110 compares them."""

from __future__ import annotations

import pytest

from app.web.conditional import etag_of, has_it, is_known

TAG = '"abc"'


def test_a_tag_is_strong_and_of_the_bytes() -> None:
    assert etag_of(b"a") == etag_of(b"a") != etag_of(b"b")
    assert etag_of(b"a").startswith('"')
    assert etag_of(b"a").endswith('"')


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (['"abc"'], True),
        (['W/"abc"'], True),  # section 13.1.2: weak comparison
        (['"x", "abc"'], True),
        (['"x"', 'W/"y" , "abc"'], True),
        (["*"], True),
        ([" * "], True),
        ([], False),
        ([""], False),
        (["abc"], False),
        (['"ABC"'], False),
        (['"x"'], False),
        (['"*"'], False),
        (['"a,abc"'], False),
    ],
)
def test_if_none_match(values: list[str], expected: bool) -> None:
    assert has_it([value.encode() for value in values], TAG) is expected


def test_the_headers_of_a_call_are_looked_through() -> None:
    headers = [(b"host", b'"a"'), (b"if-none-match", b'"b"'), (b"if-none-match", b'W/"c"')]
    assert [tag for tag in ('"a"', '"b"', '"c"') if is_known({"headers": headers}, tag)] == ['"b"', '"c"']
