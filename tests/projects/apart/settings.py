"""Two databases, both real; only the alias is set."""

import os

# ruff: noqa: F405 - the other project's settings are taken whole
from executions import environment
from tests.projects.people.settings import *  # noqa: F403

DATABASES["workflows"] = environment.database(os.environ["WORKFLOWS_DATABASE_URL"])
VALKYR = VALKYR | {"DATABASE": "workflows"}
