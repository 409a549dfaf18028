"""The pages' static files, collected once for a test session and its stacks.

The process that distributes tests (`-n`) creates the folder, and the others inherit its name:
compressing a thousand files takes six CPU seconds. A copy stays beside pytest's cache, and later
sessions use it while it is current.
"""

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whitenoise.base import WhiteNoise

ROOT = "VALKYR_STATIC_ROOT"
_keeping: list[Path] = []  # the folder of the copy, if one is made


def choose_root() -> None:
    """Set the folder in the environment; the process that creates it removes it at its end."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    folder = Path(tempfile.mkdtemp(prefix="valkyr-static-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    root = folder / "files"
    root.mkdir()
    os.environ[ROOT] = str(root)


def keep_in(folder: Path) -> None:
    """Use this folder: copy its files if they are current, or store a copy there."""
    _keeping.append(folder)


def collect() -> None:
    """Fill the folder as `make up` does, unless it is already filled; one process at a time."""
    from valkyr_project.up.prepare import static, static_is_current

    root = Path(os.environ[ROOT])
    with _locked(root.parent):
        if static_is_current(os.environ):
            return
        if not _keeping:
            static()
            return
        with _locked(_keeping[-1]):
            _provide(root, _keeping[-1] / "files")


def _provide(root: Path, kept: Path) -> None:
    """Copy the stored files; if they are not current, collect and store them.

    The stamp names the sources of the files: it is removed before them and written after them.
    """
    from valkyr_project.up.prepare import static, static_is_current

    if static_is_current({ROOT: str(kept)}):
        _copy(kept, root)
        return
    static()
    _stamp(kept).unlink(missing_ok=True)
    shutil.rmtree(kept, ignore_errors=True)
    _copy(root, kept)


def _copy(source: Path, target: Path) -> None:
    """Copy the files as links where possible: files are removed or replaced, and never changed in
    place.
    """
    shutil.copytree(source, target, copy_function=_link, dirs_exist_ok=True)
    shutil.copyfile(_stamp(source), _stamp(target))


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _stamp(root: Path) -> Path:
    return root.with_name(f"{root.name}.stamp")


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def list_once() -> None:
    """Let all test clients of this process share one list of the files, which are complete.

    A client creates its own middleware, which reads all of a thousand files: more work than most
    requests of a test.
    """
    kept: dict[tuple[str, str, int | None], dict[str, object]] = {}
    look = WhiteNoise.update_files_dictionary

    def update(self: WhiteNoise, root: str, prefix: str) -> None:
        asked = (root, prefix, self.max_age)
        if asked not in kept:
            look(self, root, prefix)
            kept[asked] = dict(self.files)
        self.files.update(kept[asked])

    WhiteNoise.update_files_dictionary = update


def read_again() -> None:
    """Let Django read the manifest again.

    Django keeps the storage, and the storage keeps the manifest that it looked for before the files
    existed. Collecting replaces that manifest, but copying the files does not.
    """
    from django.conf import settings
    from django.test.signals import setting_changed

    setting_changed.send(None, setting="STATIC_ROOT", value=settings.STATIC_ROOT, enter=True)


def collected() -> dict[str, str]:
    """Return the environment with which a stack finds the files and does not collect them."""
    collect()
    return {ROOT: os.environ[ROOT]}
