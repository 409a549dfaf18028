"""A next release, as docs/how-to/upgrading.md allows it.

It is this source tree with two changes: added columns that have a default in the database, and a
message with one more argument.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.stack import PROJECT

PACKAGES = ("valkyr", "valkyr_project", "executions", "runners", "dlq", "valkyr_plugins", "tests")
COLUMN = '    release_note = models.TextField(db_default="new")\n'
# Where to add one: before a line that each of the two models has once.
COLUMNS = {
    "runners/models/run.py": "    lease_token = models.IntegerField(default=0)\n",
    "executions/models/execution.py": "    class Meta:\n",
}
TASK = ("others: Sequence[str] = ()\n) -> None:", 'others: Sequence[str] = (), hint: str = ""\n):')
APPS = ("executions", "runners")


class NextRelease:
    """A separate source tree; this process imports nothing from it."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        """Copy the tree into `folder` and change it; `environment` names the database."""
        self.folder = folder
        self._environment = {**environment, "VALKYR_PROCESS": "tool"}
        for name in PACKAGES:
            # With its byte code: otherwise each process would compile it all again.
            ignored = shutil.ignore_patterns("node_modules")
            shutil.copytree(PROJECT / name, folder / name, ignore=ignored)
        shutil.copy(PROJECT / "manage.py", folder)
        for path, before in COLUMNS.items():
            self._change(path, before, COLUMN + before)
        self._change("runners/tasks.py", *TASK)
        self._run("manage.py", "makemigrations", *APPS, "--name", "next_release")

    def migrate(self) -> None:
        """Migrate as a deployment does, while other processes work."""
        self._run("-m", "valkyr_project.migrate")

    def migrate_back(self) -> None:
        """Migrate back to the tables of this release."""
        for app in reversed(APPS):
            ours = sorted(path.stem for path in (PROJECT / app / "migrations").glob("0*.py"))
            self._run("manage.py", "migrate", app, ours[-1])

    def _change(self, path: str, before: str, after: str) -> None:
        text = (self.folder / path).read_text()
        assert text.count(before) == 1, f"{path} holds {text.count(before)} × {before!r}"
        (self.folder / path).write_text(text.replace(before, after))

    def _run(self, *arguments: str) -> None:
        ended = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env={**os.environ, **self._environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
