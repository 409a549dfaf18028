"""Update the tables, static files and the administrator before any process serves requests.

Two processes of the image run concurrently: `valkyr_project.up.prepare tables` and `static`. The
second runs only if static files may have changed.
"""

import hashlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from valkyr_project.image.client import ProcessImage
from valkyr_project.up.options import PROJECT, UpError


def prepare(image: ProcessImage, environment: Mapping[str, str]) -> str:
    """Run the parts that are necessary; return the last line that `ensure_admin` printed.

    Raises UpError with the last lines of the part that failed.
    """
    parts = {
        part: image.start(
            [sys.executable, "-m", "valkyr_project.up.prepare", part],
            {"VALKYR_PROCESS": "migrate"},
        )
        for part in PARTS
        if part == "tables" or not static_is_current(environment)
    }
    said = {part: process.stdout.read().decode().strip() for part, process in parts.items()}
    ended = {part: process.wait() for part, process in parts.items()}
    if not image.alive():
        raise UpError("Loading the code failed:\n" + image.last_lines())
    for part, code in ended.items():
        if code != 0:
            raise UpError(f"Preparing the {part} failed:\n" + said[part][-3000:])
    return said["tables"].splitlines()[-1]


def tables() -> None:
    """Migrate the tables or install row-level security if necessary, then run `ensure_admin`."""
    from django.core.management import call_command
    from django.db.migrations.executor import MigrationExecutor

    from executions.database import connection, row_scope, row_security

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)
    elif row_scope.enabled():
        row_security.install()  # enabled since the last migration
    call_command("ensure_admin")


def static() -> None:
    """Collect the static files again, and store the fingerprint of their sources."""
    from django.core.management import call_command

    root = _static_root(os.environ)
    call_command("collectstatic", interactive=False, verbosity=0, clear=root.exists())
    _stamp(root).write_text(fingerprint())


def static_is_current(environment: Mapping[str, str]) -> bool:
    """Return whether the collected files were made from the current packages and project."""
    root = _static_root(environment)
    stamp = _stamp(root)
    return root.is_dir() and stamp.is_file() and stamp.read_text() == fingerprint()


def sources() -> list[Path]:
    """Return the folders with static files of the project and of its plugins."""
    own = [PROJECT / "valkyr_project" / "overrides", *PROJECT.glob("*/static")]
    return [*own, *PROJECT.glob("valkyr_plugins/*/static")]


def _static_root(environment: Mapping[str, str]) -> Path:
    """Return the folder of collected files that the settings would name, without loading them."""
    given = environment.get("VALKYR_STATIC_ROOT", "").strip()
    return Path(given) if given else Path(environment["VALKYR_HOME"]) / "static"


def _stamp(root: Path) -> Path:
    return root.with_name(root.name + ".stamp")


def fingerprint() -> str:
    """Return a fingerprint of the packages, the chosen plugins and the static files' sources."""
    pinned = PROJECT / "requirements.txt"
    # In an installed package, the names of the installed distributions identify the code.
    names = "\n".join(sorted(path.name for path in PROJECT.glob("*.dist-info")))
    digest = hashlib.sha256(pinned.read_bytes() if pinned.exists() else names.encode())
    digest.update(os.environ.get("VALKYR_PLUGINS", "").encode())
    for path in sorted(file for place in sources() for file in place.rglob("*")):
        facts = path.stat()
        digest.update(f"{path.relative_to(PROJECT)} {facts.st_mtime_ns} {facts.st_size}\n".encode())
    return digest.hexdigest()


PARTS = {"tables": tables, "static": static}


def main() -> None:
    """Run the part (`tables` or `static`) that the command line names."""
    PARTS[sys.argv[1]]()
