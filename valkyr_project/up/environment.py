"""The environment every process of a stack gets: the caller's, and what the start decided."""

import os
from pathlib import Path

from valkyr_project import plugins
from valkyr_project.up.credentials import StackCredentials
from valkyr_project.up.failing import FILE, VARIABLE
from valkyr_project.up.options import Options

# Where the demo's partner listens, and nothing else of this machine: steps may call it without
# being allowed to call the machine's other services.
PARTNER_ADDRESS = "127.0.0.77"


def step_defaults(home: Path) -> dict[str, str]:
    """What holds in a stack of one's own, where the caller does not say otherwise."""
    remote = {"VALKYR_REMOTE_QUEUES": "remote"} if "remote" in plugins.chosen() else {}
    return remote | {
        "VALKYR_HTTP_ALLOWED_NETWORKS": f"{PARTNER_ADDRESS}/32",
        "VALKYR_EMAIL_URL": (home / "mail").as_uri(),
        # Who presses Ctrl-C waits; shorter than WORKER_STOP's first step.
        "VALKYR_DRAIN_SECONDS": "8",
    }


def stack_environment(
    options: Options, credentials: StackCredentials, database_url: str, redis_url: str
) -> dict[str, str]:
    """The caller's environment with every address and secret of this stack."""
    inherited = {name: value for name, value in os.environ.items() if name != "RUNNER_ID"}
    key_file = credentials.key_file
    return (
        step_defaults(options.home)
        | inherited
        | {  # each worker names itself: three of one name would be one
            "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
            "PYTHONUNBUFFERED": "1",
            "VALKYR_HOME": str(options.home),
            VARIABLE: str(options.home.resolve() / FILE),
            "VALKYR_SECRET_KEY": credentials.secret_key,
            "VALKYR_ADMIN_USERNAME": credentials.username,
            "VALKYR_ADMIN_PASSWORD": credentials.password,
            "DATABASE_URL": database_url,
            "REDIS_URL": redis_url,
            "PORT": str(options.port),
            "FLOWER_PORT": str(options.flower_port),
            "RUNNER_CONCURRENCY": str(options.concurrency),
        }
        | ({"VALKYR_KEY_FILE": str(key_file)} if key_file is not None else {})
    )
