"""The environment every process of a stack gets: the caller's, and what the start decided."""

import os

from valkyr_project.up.credentials import Credentials
from valkyr_project.up.options import Options


def stack_environment(
    options: Options, credentials: Credentials, database_url: str, redis_url: str
) -> dict[str, str]:
    """The caller's environment with every address and secret of this stack."""
    inherited = {name: value for name, value in os.environ.items() if name != "RUNNER_ID"}
    return inherited | {  # each worker names itself: three of one name would be one
        "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        "PYTHONUNBUFFERED": "1",
        "VALKYR_HOME": str(options.home),
        "VALKYR_SECRET_KEY": credentials.secret_key,
        "VALKYR_ADMIN_USERNAME": credentials.username,
        "VALKYR_ADMIN_PASSWORD": credentials.password,
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "PORT": str(options.port),
        "FLOWER_PORT": str(options.flower_port),
        "RUNNER_CONCURRENCY": str(options.concurrency),
    }
