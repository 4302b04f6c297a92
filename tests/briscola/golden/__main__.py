"""Write every golden game anew."""

from app.briscola.variants import VARIANTS
from tests.briscola.golden import golden_file, playthrough
from tests.briscola.golden.match import TERMS, match_file, match_playthrough

for variant in VARIANTS.values():
    golden_file(variant).write_text(playthrough(variant))
for terms in TERMS:
    match_file(terms).write_text(match_playthrough(terms))
