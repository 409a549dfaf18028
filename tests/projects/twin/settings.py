"""One database by two aliases."""

# ruff: noqa: F405 - the other project's settings are taken whole
from tests.projects.people.settings import *  # noqa: F403

_ours = {**DATABASES["default"]["OPTIONS"], "application_name": "valkyr-only"}
DATABASES["workflows"] = {**DATABASES["default"], "OPTIONS": _ours}
VALKYR = VALKYR | {"DATABASE": "workflows"}
