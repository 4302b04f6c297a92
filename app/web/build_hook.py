"""Builds the pages' scripts when the distribution is built, an editable one too; see `build.py`."""

import runpy
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildPages(BuildHookInterface[Any]):
    """Called by hatchling; without npm the service is installed all the same, and its server verifies."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before the files are gathered; `app` cannot be imported here."""
        module = runpy.run_path(str(Path(self.root, "app", "web", "build.py")))
        try:
            module["build"]()
        except module["NotBuilt"] as error:
            self.app.display_warning(
                f"Installed without the pages' scripts, so the server verifies, not the browser: {error}."
            )
