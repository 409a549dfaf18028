"""What "Your own" promises a newcomer, done as printed: written, tested, and run by a stack."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from runners.management.module_pages.pages import YOUR_OWN
from tests.support.folders import passable_folder
from tests.support.pages import sign_in
from tests.support.stack import PROJECT, Stack
from tests.support.static_files import collected

pytestmark = pytest.mark.timeout(560)
BLOCK = re.compile(r"```(sh|console|yaml|text)\n(.*?)```", re.DOTALL)


def blocks(kind: str) -> list[str]:
    return [text for name, text in BLOCK.findall(YOUR_OWN.read_text()) if name == kind]


def shell(script: str, folder: Path, **more: str) -> str:
    path = os.pathsep.join([str(PROJECT), str(folder)])
    done = subprocess.run(
        ["bash", "-c", f"set -eo pipefail\n{script}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path} | more,
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_step_of_ones_own_runs_in_a_workflow_as_printed(tmp_path: Path) -> None:
    for name in (".venv", "manage.py", "examples"):
        (tmp_path / name).symlink_to(PROJECT / name)
    write, test, use = blocks("sh")
    (tmp_path / "less.yaml").write_text(blocks("yaml")[0])
    (started,) = blocks("console")
    name, _, value = started.split()[0].partition("=")

    assert "Wrote shop_steps/discount.py" in shell(write, tmp_path)
    database = f"test_your_own_{os.getpid()}"
    assert "3 passed" in shell(test, tmp_path, VALKYR_TEST_DATABASE_NAME=database)
    extra = collected() | {name: value, "PYTHONPATH": str(tmp_path)}
    with passable_folder("own") as home, Stack(home / "home", extra) as stack:
        stack.wait_ready(250)
        said = shell(use, tmp_path, URL=stack.url, TOKEN=sign_in(stack))

    assert said.strip() == blocks("text")[0].strip()
