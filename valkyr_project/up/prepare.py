"""Tables, static files and the administrator, brought up to date before anything serves.

Two processes side by side: `python -m valkyr_project.up.prepare tables|static`. Each does nothing
but look when nothing changed.
"""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from valkyr_project.embedded.child import die_with_parent
from valkyr_project.up.errors import UpError
from valkyr_project.up.options import PROJECT


def prepare(environment: dict[str, str]) -> str:
    """Run both parts; returns what `ensure_admin` said; raises UpError with a part's last lines."""
    parts = {
        part: subprocess.Popen(  # noqa: S603 - our own command
            [sys.executable, "-m", "valkyr_project.up.prepare", part],
            cwd=PROJECT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=die_with_parent(signal.SIGKILL),  # noqa: PLW1509 - one system call
        )
        for part in PARTS
    }
    try:
        said = {part: process.communicate()[0].strip() for part, process in parts.items()}
    finally:
        for process in parts.values():
            process.kill()
            process.wait()
    for part, process in parts.items():
        if process.returncode != 0:
            raise UpError(f"Preparing the {part} failed:\n" + said[part][-3000:])
    return said["tables"].splitlines()[-1]


def tables() -> None:
    """Migrate where a migration waits, then ensure the administrator (prints the outcome)."""
    from django.core.management import call_command
    from django.db import connection
    from django.db.migrations.executor import MigrationExecutor

    executor = MigrationExecutor(connection)
    if executor.migration_plan(executor.loader.graph.leaf_nodes()):
        call_command("migrate", interactive=False, verbosity=0)
    call_command("ensure_admin")


def static() -> None:
    """Collect static files when they may have changed since last time."""
    from django.conf import settings
    from django.core.management import call_command

    root = Path(settings.STATIC_ROOT)
    stamp = root.with_name(root.name + ".stamp")
    wanted = _fingerprint()
    if stamp.exists() and stamp.read_text() == wanted and root.exists():
        return
    call_command("collectstatic", interactive=False, verbosity=0, clear=root.exists())
    stamp.write_text(wanted)


def _fingerprint() -> str:
    """Changes with the installed packages and with every static file of the project itself."""
    digest = hashlib.sha256((PROJECT / "requirements.txt").read_bytes())
    places = [PROJECT / "valkyr_project" / "overrides", *PROJECT.glob("*/static")]
    for path in sorted(file for place in places for file in place.rglob("*")):
        facts = path.stat()
        digest.update(f"{path.relative_to(PROJECT)} {facts.st_mtime_ns} {facts.st_size}\n".encode())
    return digest.hexdigest()


PARTS = {"tables": tables, "static": static}

if __name__ == "__main__":
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
    django.setup()
    PARTS[sys.argv[1]]()
