"""The engine's tests without plugins: `VALKYR_PLUGINS=none make test`.

Plugins cannot be imported then, because the engine must not import them. Files that import plugins,
and tests marked `plugins`, are left out.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from tests.support import nursery

PACKAGE = "valkyr_plugins"
ASKED = os.environ.get("VALKYR_PLUGINS") == "none"
# Signs that a file needs plugins: an import, the mark, or a support file that imports some.
SIGNS = (
    f"from {PACKAGE}",
    "from tests.plugins",
    "from tests.support.aging",
    "from tests.support.alerts",
    "from tests.contract.scenario",
    "from tests.fuzz.planted",
)


def needed_by(file: Path) -> bool:
    """Return whether a test file needs plugins."""
    return file.suffix == ".py" and any(sign in file.read_text() for sign in SIGNS)


class Forbidden(MetaPathFinder):
    """Raises an error that says that plugins are left out, for any import of one."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ImportError for a plugin; return None for other modules, which other finders
        load.
        """
        if name.partition(".")[0] == PACKAGE:
            raise ImportError(f"{name} is a plugin, and plugins are left out here", name=name)
        return None


def forbid() -> None:
    """Forbid the import of any plugin in this process."""
    sys.meta_path.insert(0, Forbidden())


def run_without(
    program: str, plugins: str = "none", **named: str
) -> subprocess.CompletedProcess[str]:
    """Run a program in a separate process, in which only these plugins are installed."""
    inherited = {
        name: value for name, value in os.environ.items() if name != "VALKYR_REMOTE_QUEUES"
    }
    return nursery.run(
        [sys.executable, "-W", "ignore", "-c", program],
        environment=inherited | {"VALKYR_PLUGINS": plugins, "VALKYR_DEBUG": "1"} | named,
    )
