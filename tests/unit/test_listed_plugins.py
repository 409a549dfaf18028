"""`valkyr.PLUGINS`, from which a project takes plugins for `INSTALLED_APPS`."""

from pathlib import Path

import valkyr
import valkyr_plugins

# They change how users sign in, or need database roles.
EXPLICIT = {"mfa", "sso", "sql_views"}


def test_all_plugins_are_listed_except_those_that_a_project_chooses() -> None:
    (folder,) = map(Path, valkyr_plugins.__path__)
    names = {apps.parent.name for apps in folder.glob("*/apps.py")}

    assert set(valkyr.PLUGINS) == {f"valkyr_plugins.{name}" for name in names - EXPLICIT}
