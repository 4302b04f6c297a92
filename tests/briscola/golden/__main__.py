"""Write every golden game anew."""

from app.briscola.variants import VARIANTS
from tests.briscola.golden import golden_file, playthrough

for variant in VARIANTS.values():
    golden_file(variant).write_text(playthrough(variant))
