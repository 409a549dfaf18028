"""The account under which the servers run: this user, or for root an unprivileged account.

PostgreSQL refuses to run as root, and no network server should run as root. Another account may
lack access to this program's folders, so the code tests access instead of computing it from file
modes.
"""

import os
import pwd
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any


class ServerError(Exception):
    """An error that prevents an embedded server from running; the message says what to do."""


CANDIDATES = ("valkyr", "postgres", "nobody")


@dataclass(frozen=True)
class Account:
    """The account that a server runs as; `is_ours` is true for this program's own user."""

    uid: int
    gid: int
    name: str
    is_ours: bool

    def popen_arguments(self) -> dict[str, Any]:
        """Return arguments for `subprocess` that make the program run under this account."""
        if self.is_ours:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def can_enter(self, folder: Path) -> bool:
        """Return whether a process of this account can change into `folder`."""
        if self.is_ours:
            return os.access(folder, os.X_OK)
        return self._succeeds(["/bin/sh", "-c", 'cd -- "$1"', "sh", str(folder)])

    def can_run(self, program: Path) -> bool:
        """Return whether a process of this account can run `program`; try it with `--version`."""
        return self._succeeds([str(program), "--version"])

    def _succeeds(self, command: list[str]) -> bool:
        try:
            done = subprocess.run(  # noqa: S603 - our own command
                command,
                cwd="/",
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=10,
                check=False,
                **self.popen_arguments(),
            )
        except (OSError, subprocess.SubprocessError):
            return False
        return done.returncode == 0

    def own(self, path: Path) -> None:
        """Make this account the owner of `path`, unless this program runs as this account."""
        if not self.is_ours:
            os.chown(path, self.uid, self.gid)


def server_account() -> Account:
    """Return the account for servers. Raises ServerError if root has no unprivileged account."""
    uid = os.geteuid()
    if uid != 0:
        return Account(uid, os.getegid(), str(uid), is_ours=True)
    for name in CANDIDATES:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid, name, is_ours=False)
    raise ServerError(
        f"PostgreSQL does not run as root, and none of the accounts {', '.join(CANDIDATES)} "
        "exists. Run as an ordinary user, add one of them (useradd --system valkyr), or set "
        "DATABASE_URL and REDIS_URL to your own servers."
    )
