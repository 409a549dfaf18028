"""The page "Your own" is correct: a step is written, tested, and run by a stack that loads it."""

import os
import re
from pathlib import Path

from runners.management.module_pages import YOUR_OWN
from tests.support.running import output_of
from tests.support.stack import PROJECT

BLOCK = re.compile(r"```(sh|console|yaml|text)\n(.*?)```", re.DOTALL)


class OwnStep:
    """A new user's folder in which the page is followed, block by block."""

    def __init__(self, folder: Path) -> None:
        """Prepare the folder: only the project's files are available."""
        self.folder = folder
        self._write, self._test, self._use = _blocks("sh")
        (started,) = _blocks("console")
        name, _, value = started.split()[0].partition("=")
        # The stack's start options, and where it finds what was written.
        self.environment = {name: value, "PYTHONPATH": str(folder)}
        (self.printed,) = _blocks("text")
        for needed in (".venv", "manage.py", "examples"):
            (folder / needed).symlink_to(PROJECT / needed)
        (folder / "less.yaml").write_text(_blocks("yaml")[0])

    def write(self) -> str:
        """Write the step's files; return the output."""
        return self._shell(self._write)

    def test(self) -> str:
        """Run the tests that were written with the step; return their output."""
        database = f"test_your_own_{os.getpid()}"
        return self._shell(self._test, VALKYR_TEST_DATABASE_NAME=database)

    def use(self, url: str, token: str) -> str:
        """Publish the page's workflow to a stack and run it; return the output."""
        return self._shell(self._use, URL=url, TOKEN=token)

    def _shell(self, script: str, **more: str) -> str:
        path = os.pathsep.join([str(PROJECT), str(self.folder)])
        command = ["bash", "-c", f"set -eo pipefail\n{script}"]
        environment = os.environ | {"PYTHONPATH": path} | more
        return output_of(command, folder=self.folder, environment=environment, seconds=180)


def _blocks(kind: str) -> list[str]:
    return [text for name, text in BLOCK.findall(YOUR_OWN.read_text()) if name == kind]
