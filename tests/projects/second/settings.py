"""Two databases; the first does not exist."""

import os

# ruff: noqa: F405 - the other project's settings are taken whole
from executions import environment
from tests.projects.people.settings import *  # noqa: F403

NOWHERE = "postgres://nobody@127.0.0.1:1/shop"
DATABASES = {
    "default": environment.database(os.environ.get("SHOP_DATABASE_URL", NOWHERE)),
    "workflows": DATABASES["default"],
}
DATABASE_ROUTERS = ["tests.projects.second.routers.Accounts"]
VALKYR = VALKYR | {"DATABASE": "workflows"}
ASGI_APPLICATION = "tests.projects.people.asgi.application"
