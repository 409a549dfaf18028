"""The environment of a stack's processes, and the stack's passwords."""

import base64
import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from valkyr_project import plugins
from valkyr_project.embedded.folders import write_private
from valkyr_project.up.failing_processes import FILE, VARIABLE
from valkyr_project.up.options import Options, UpError

# Passwords are generated once and kept in `<home>/secrets.env`, which only its owner can read.
#
# The key that seals secrets in the database is in a separate file in the same folder.


SECRETS_FILE = "secrets.env"
KEY_FILE = "installation.key"
KEY_GIVEN = ("VALKYR_KEY_FILE", "VALKYR_KEY", "VALKYR_KEY_URI")
HEADER = (
    "# Created by `make up` at its first start. Anyone who can read this file can sign in and "
    "forge sessions.\n"
)


@dataclass(frozen=True)
class StackCredentials:
    """The keys of the installation, and the passwords of its administrator and of Flower.

    `password_is_ours` is true if the administrator's password was generated here; `key_file` holds
    the generated installation key, and is None if the environment names a key.
    """

    secret_key: str
    username: str
    password: str
    password_is_ours: bool
    flower_password: str
    key_file: Path | None


def load(home: Path, environment: Mapping[str, str] = os.environ) -> StackCredentials:
    """Return the stored credentials, or new ones if missing; the environment overrides each."""
    path = home / SECRETS_FILE
    kept = _read(path)
    made = {
        "VALKYR_SECRET_KEY": secrets.token_urlsafe(60),
        "VALKYR_ADMIN_PASSWORD": secrets.token_urlsafe(15),
        "FLOWER_PASSWORD": secrets.token_urlsafe(15),
    } | kept
    if made != kept:
        write_private(path, HEADER + "".join(f"{key}={value}\n" for key, value in made.items()))
    given = environment.get("VALKYR_ADMIN_PASSWORD", "")
    found = StackCredentials(
        secret_key=environment.get("VALKYR_SECRET_KEY", "") or made["VALKYR_SECRET_KEY"],
        username=environment.get("VALKYR_ADMIN_USERNAME", "") or "admin",
        password=given or made["VALKYR_ADMIN_PASSWORD"],
        password_is_ours=not given,
        flower_password=environment.get("FLOWER_PASSWORD", "") or made["FLOWER_PASSWORD"],
        key_file=None
        if any(environment.get(name, "").strip() for name in KEY_GIVEN)
        else _key_file(home),
    )
    _check_for_flower(found)
    return found


def _check_for_flower(found: StackCredentials) -> None:
    """Raise UpError if the user name or Flower's password contains a separator of Flower's list."""
    if {":", ","} & set(found.username) or "," in found.flower_password:
        raise UpError(
            "Flower cannot sign in this user: VALKYR_ADMIN_USERNAME must have no colon and no "
            "comma, FLOWER_PASSWORD no comma."
        )


def _key_file(home: Path) -> Path:
    """Return the file of the installation key, which is created at the first start."""
    path = home.resolve() / KEY_FILE
    if not _is_private(path):
        write_private(path, base64.b64encode(secrets.token_bytes(32)).decode() + "\n")
    return path


def _read(path: Path) -> dict[str, str]:
    """Return the stored values, keyed by name; {} if the file does not exist."""
    if not _is_private(path):
        return {}
    lines = path.read_text().splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, value in pairs}


def _is_private(path: Path) -> bool:
    """Return whether the file exists; make it private. Raises UpError if it is not this user's."""
    try:
        facts = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
        raise UpError(f"{path} must be a regular file owned by this user.")
    path.chmod(0o600)
    return True


# The address of the demo's partner. No other service of this machine uses it, so steps may call the
# partner without access to the machine's other services.
PARTNER_ADDRESS = "127.0.0.77"


def step_defaults(home: Path) -> dict[str, str]:
    """Return default settings for a local stack; the caller's environment can override them."""
    remote = {"VALKYR_REMOTE_QUEUES": "remote"} if "remote" in plugins.chosen() else {}
    return remote | {
        "VALKYR_HTTP_ALLOWED_NETWORKS": f"{PARTNER_ADDRESS}/32",
        "VALKYR_EMAIL_URL": (home / "mail").as_uri(),
        # Short, because the user waits after Ctrl-C; shorter than WORKER_STOP's first step.
        "VALKYR_DRAIN_SECONDS": "8",
    }


def stack_environment(
    options: Options,
    credentials: StackCredentials,
    database_url: str,
    redis_url: str,
    *,
    inherited: Mapping[str, str] = os.environ,
) -> dict[str, str]:
    """Return the inherited environment with this stack's addresses, keys and administrator."""
    kept = {name: value for name, value in inherited.items() if name != "RUNNER_ID"}
    key_file = credentials.key_file
    return (
        step_defaults(options.home)
        | kept
        | {  # without RUNNER_ID: workers with the same name would count as one
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
