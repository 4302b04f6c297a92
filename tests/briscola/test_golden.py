"""The kept games are still played and told word for word."""

import pytest

from app.briscola.variants import VARIANTS
from tests.briscola.golden import golden_file, playthrough
from tests.briscola.golden.match import TERMS, match_file, match_playthrough


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_playthrough(variant):
    assert playthrough(variant) == golden_file(variant).read_text()


@pytest.mark.parametrize("terms", TERMS, ids=[terms.variant for terms in TERMS])
def test_match_playthrough(terms):
    assert match_playthrough(terms) == match_file(terms).read_text()
