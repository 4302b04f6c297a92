"""The kept games are still played and told word for word."""

import pytest

from app.briscola.variants import VARIANTS
from tests.briscola.golden import golden_file, playthrough


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
def test_playthrough(variant):
    assert playthrough(variant) == golden_file(variant).read_text()
