"""The page writes the tags that the service expects of it."""

from __future__ import annotations

import json

from tests.vectors import load
from tests.web.js.node import run


def test_the_tags_of_the_vectors():
    contents = [json.loads(case["event"]["content"]) for case in load("match.json")["matches"]]
    answer = run(
        {"opening.js": "KIND, commitmentTags, statementTags"},
        """return given.map((t) => [KIND, commitmentTags(t, t.commitment),
          statementTags(t.match, t.commitment_event.id, t.commitment, t.client_seed)]);""",
        contents,
    )
    assert answer == [[78, t["commitment_event"]["tags"], t["statement"]["tags"]] for t in contents]
