"""The Django project in this folder: find its settings and load them.

The stand-alone platform is a project too: its settings come from the environment, or from the stack
that runs on this machine.
"""

import ast
import importlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from valkyr.cli.errors import CliError, Exit, usage

SETTINGS = "DJANGO_SETTINGS_MODULE"
PLATFORM = "valkyr_project.settings"


def set_up(settings: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """Load the project and return the name of its settings. Raises CliError if none is found."""
    name = settings or environment.get(SETTINGS) or named_by(Path("manage.py"))
    if name in ("", PLATFORM) and _use_running_stack():
        name = PLATFORM
    if not name:
        raise usage(
            "No Django project is selected.",
            f"Change to the folder of its manage.py, use --settings, or set {SETTINGS}. To use the "
            "stack of `valkyr up`, start it, and change to its folder or set VALKYR_HOME.",
        )
    os.environ[SETTINGS] = name
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    _import(name)
    return name


def _use_running_stack() -> bool:
    """Use the environment of a running `valkyr up` stack, if any; return whether it was used."""
    # Imported by name, because the platform is above this layer, and optional.
    try:
        stack = importlib.import_module("valkyr_project.up.running_stack")
        rejected = importlib.import_module("valkyr_project.up.options").UpError
    except ModuleNotFoundError:
        return False
    try:
        return stack.use_running_stack() is not None
    except rejected as error:
        raise usage(str(error)) from error


def named_by(manage: Path) -> str:
    """Return the settings module that a manage.py names; "" if it names none.

    The file is not run.
    """
    try:
        tree = ast.parse(manage.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError):
        return ""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        values = [a.value for a in call.args if isinstance(a, ast.Constant)]
        if len(values) == 2 and values[0] == SETTINGS and isinstance(values[1], str):
            return values[1]
    return ""


def _import(name: str) -> None:
    import django
    from django.apps import apps
    from django.core.exceptions import ImproperlyConfigured

    try:
        importlib.import_module(name)
        django.setup(set_prefix=False)
    except ImportError as error:
        raise CliError(
            f"The settings {name} cannot be loaded: {error}.",
            Exit.NOT_INSTALLED,
            hint="Check the name, and that its packages are installed where `valkyr` runs.",
        ) from error
    except ImproperlyConfigured as error:
        raise usage(f"The settings {name} are not valid: {error}") from error
    if not apps.is_installed("executions"):
        raise CliError(
            f"Valkyr is not in INSTALLED_APPS of {name}.",
            Exit.NOT_INSTALLED,
            hint="Add *valkyr.APPS to INSTALLED_APPS, and include valkyr.urls.",
        )
