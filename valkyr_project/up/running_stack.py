"""Run management commands on the stack of `make up`, with the environment of its processes.

manage.py and `valkyr manage` call `use_running_stack` before they load the settings.
"""

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path

import psutil

from valkyr_project.up import environment as credentials_file
from valkyr_project.up.environment import KEY_GIVEN, stack_environment
from valkyr_project.up.home import running
from valkyr_project.up.options import UpError, home_folder, parse

SETTINGS = "valkyr_project.settings"
# Variables that must belong to the same installation: a command must not use the keys of one
# installation for the rows of another.
OF_ONE_INSTALLATION = (
    "VALKYR_SECRET_KEY",
    *KEY_GIVEN,
    "DATABASE_URL",
    "DATABASE_DIRECT_URL",
    "DATABASE_REPLICA_URL",
    "REDIS_URL",
    "CELERY_BROKER_URL",
)


def use_running_stack(environment: MutableMapping[str, str] = os.environ) -> Path | None:
    """Add the variables of the stack that runs in VALKYR_HOME; return the stack's folder.

    Variables that are already set are not changed. If no stack runs, or if the environment already
    names an installation, the function does nothing and returns None. Raises UpError if the stack
    cannot be used.
    """
    if _names_an_installation(environment):
        return None
    folder = home_folder(environment)
    facts = running(folder)
    if facts is None:
        return None
    if "database_url" not in facts:
        raise UpError(
            f"The stack in {folder} is starting, or belongs to another user. Run the command again "
            "when it is ready, as the user who started it."
        )
    found = _environment_of(folder, facts)
    _check_installation(folder, environment, found)
    for name, value in found.items():
        if not _text(environment, name):
            environment[name] = value
    return folder


def _names_an_installation(environment: Mapping[str, str]) -> bool:
    if _text(environment, "DJANGO_SETTINGS_MODULE") not in ("", SETTINGS):
        return True
    key = _text(environment, "VALKYR_SECRET_KEY") and _text(environment, "DATABASE_URL")
    return bool(key or _text(environment, "VALKYR_INSECURE_KEY"))


def _environment_of(folder: Path, facts: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of the stack's processes.

    It is built again from the environment in which the user started the stack.
    """
    try:
        given = psutil.Process(int(facts["pid"])).environ()
    except psutil.NoSuchProcess:
        raise UpError(f"The stack in {folder} has just ended. Start it with `make up`.") from None
    except (psutil.Error, OSError):
        raise UpError(
            f"The stack in {folder} runs as another user (process {facts['pid']}). Run the command "
            "as that user."
        ) from None
    options = replace(parse([], given), home=folder)
    credentials = credentials_file.load(folder, given)
    return stack_environment(
        options, credentials, facts["database_url"], facts["redis_url"], inherited=given
    )


def _check_installation(
    folder: Path, environment: Mapping[str, str], stack: Mapping[str, str]
) -> None:
    for name in OF_ONE_INSTALLATION:
        if _text(environment, name) not in ("", _text(stack, name)):
            raise UpError(
                f"{name} is set, and the stack in {folder} uses another value. Unset {name} to use "
                "the stack. To use another installation, set VALKYR_SECRET_KEY and DATABASE_URL."
            )


def _text(environment: Mapping[str, str], name: str) -> str:
    return environment.get(name, "").strip()
