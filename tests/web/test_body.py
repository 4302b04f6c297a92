"""What must not get through POST /v1/scores: refused by name, and nothing is signed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.service import Running, assert_problem, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = pytest.mark.asyncio(loop_scope="module")
JSON = {"Content-Type": "application/json"}


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("body")) as open_one:
        yield open_one


SCORES = [
    "null", '""', "false", "true", '"72"', "72.5", "72.0", "-1", "121", "1" + "0" * 3000, "-" + "9" * 3000,
    "NaN", "Infinity", "-Infinity", "1e2", "1e999", "[]", "[72]", "{}", "72e-1",
]  # fmt: skip


@pytest.mark.parametrize("score", SCORES)
async def test_a_faulty_score_is_named(service: Running, score: str) -> None:
    body = f'{{"username":"alice","score":{score}}}'
    document = assert_problem(
        await service.http.post("/v1/scores", content=body, headers=JSON), 422, "invalid-score"
    )
    assert [error["field"] for error in document["errors"]] == ["score"]
    assert document["detail"].startswith("score: ")
    assert service.count() == 0


async def test_a_score_of_five_thousand_digits_is_too_large_a_body(service: Running) -> None:
    body = f'{{"username":"alice","score":1{"0" * 5000}}}'
    assert_problem(await service.http.post("/v1/scores", content=body, headers=JSON), 413, "body-too-large")
    assert service.count() == 0


@pytest.mark.parametrize("username", ["null", "false", "1", "[]", '{"a":1}'])
async def test_a_username_that_is_no_text_is_named(service: Running, username: str) -> None:
    body = f'{{"username":{username},"score":72}}'
    document = assert_problem(
        await service.http.post("/v1/scores", content=body, headers=JSON), 422, "invalid-score"
    )
    assert [error["field"] for error in document["errors"]] == ["username"]
    assert service.count() == 0


# The publisher's rules for names: what each breaks stands in the message.
NAMES = {
    "": "empty",
    "a" * 33: "at most 32",
    "a b": "U+0020",
    "a\u200bb": "U+200B",
    "a\u202eb": "U+202E",
    "alice\n": "U+000A",
    "a\x00b": "U+0000",
    "🃏ace": "U+1F0CF",
    "a/b": "U+002F",
    "\u212aelvin": "NFKC",
    "Zoe\u0308": "NFKC",
    "p\u0430ypal": "scripts",
}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
async def test_a_username_that_may_not_be_published_says_why(service: Running, name: str) -> None:
    document = assert_problem(await service.post(name, 72), 422, "invalid-score")
    (error,) = document["errors"]
    assert error["field"] == "username"
    assert NAMES[name] in error["message"]
    assert service.count() == 0


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("{}", ["username", "score"]),
        ('{"username":"alice"}', ["score"]),
        ('{"score":72}', ["username"]),
        ('{"username":"","score":121}', ["username", "score"]),
        ('{"username":"alice","score":72,"room":"x"}', ["room"]),
        ('{"username":"alice","score":72,"v":1}', ["v"]),
        ('{"Username":"alice","score":72}', ["username", "Username"]),
        ("[]", [""]),
        ("72", [""]),
        ("null", [""]),
        ('"alice"', [""]),
    ],
)
async def test_every_faulty_field_is_named(service: Running, body: str, fields: list[str]) -> None:
    document = assert_problem(
        await service.http.post("/v1/scores", content=body, headers=JSON), 422, "invalid-score"
    )
    assert [error["field"] for error in document["errors"]] == fields
    assert service.count() == 0


GOOD = '{"username":"alice","score":72}'


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        GOOD[:-1].encode(),
        GOOD.encode() + b"x",
        GOOD.encode() * 2,
        b'{"username":"alice","score":072}',
        b'{"username":"alice","score":+72}',
        b"{'username':'alice','score':72}",
        b'{"username":"alice","score":72,}',
        b'{"username":"al\xffice","score":72}',
        b'{"username":"\xed\xa0\x80","score":72}',
        b'{"username":"\\ud800","score":72}',
        b'{"username":"a\nb","score":72}',
        GOOD.encode("utf-16"),
        GOOD.encode("utf-16-le"),
        GOOD.encode("utf-32"),
        b"\xef\xbb\xbf" + GOOD.encode(),
        b"[" * 4000,
        b'{"a":' * 800,
        b'{"username":' + b"[" * 1900 + b"]" * 1900 + b',"score":72}',
        b'{"username":"alice","score":72,"score":73}',
        b'{"username":"alice","score":72,"score":72}',
        b'{"username":"alice","username":"bob","score":72}',
        b'{"username":null,"username":"alice","score":72}',
        b'{"username":"alice","score":72,"sc\\u006fre":73}',
        b'{"username":"alice","score":72,"x":1,"x":2}',
        b'{"username":{"a":1,"a":2},"score":72}',
    ],
    ids=lambda body: ascii(body[:48]),
)
async def test_what_is_no_json_or_repeats_a_key_cannot_be_read(service: Running, body: bytes) -> None:
    assert_problem(await service.http.post("/v1/scores", content=body, headers=JSON), 400, "malformed-body")
    assert service.count() == 0


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "text/json",
        "application/x-www-form-urlencoded",
        "application/jsonx",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "application/problem+json",
        "application/json, text/plain",
    ],
)
async def test_another_content_type_is_refused(service: Running, content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    answer = await service.http.post("/v1/scores", content=GOOD, headers=headers)
    assert_problem(answer, 415, "unsupported-media-type")
    assert service.count() == 0


def padded(size: int) -> bytes:
    return GOOD.encode() + b" " * (size - len(GOOD))


async def test_a_body_over_four_kibibytes_is_refused(service: Running) -> None:
    answer = await service.http.post("/v1/scores", content=padded(4097), headers=JSON)
    assert "4096" in assert_problem(answer, 413, "body-too-large")["detail"]
    assert answer.headers["connection"] == "close"
    assert service.count() == 0


async def test_a_body_over_four_kibibytes_without_a_length_is_read_no_further(service: Running) -> None:
    given = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            given.append(1)
            assert len(given) < 10
            yield b" " * 1024

    answer = await service.http.post("/v1/scores", content=endless(), headers=JSON)
    assert "content-length" not in answer.request.headers
    assert_problem(answer, 413, "body-too-large")
    assert len(given) == 5
    assert service.count() == 0


async def test_a_length_that_lies_does_not_get_a_large_body_through(service: Running) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield padded(4097)

    headers = {**JSON, "Content-Length": "31"}
    answer = await service.http.post("/v1/scores", content=chunks(), headers=headers)
    assert_problem(answer, 413, "body-too-large")
    assert service.count() == 0


@pytest.mark.parametrize("length", ["4097", "99999999999999999999", "9" * 5000])
async def test_a_length_over_the_limit_is_refused_before_the_body_is_read(
    service: Running, length: str
) -> None:
    async def unread() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    headers = {**JSON, "Content-Length": length}
    assert_problem(
        await service.http.post("/v1/scores", content=unread(), headers=headers), 413, "body-too-large"
    )


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (padded(4096), "application/json"),
        (GOOD.encode(), "application/json; charset=utf-8"),
        (GOOD.encode(), 'Application/JSON;charset="UTF-8"'),
        (b'\n{ "score" : 72 ,\t"username" : "alice" }\r\n', "application/json"),
        (b'{"us\\u0065rname":"\\u0061lice","score":72}', "application/json"),
    ],
)
async def test_every_spelling_of_a_good_body_passes(service: Running, body: bytes, content_type: str) -> None:
    answer = await service.http.post("/v1/scores", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 201, answer.text
    event = answer.json()["event"]
    assert json.loads(event["content"]) == {"v": 1, "username": "alice", "score": 72}
