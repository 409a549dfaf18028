"""The pages and the demo keep their promises to a new user: executed as printed, on a separate
stack.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.counterparts.stripe import StripeServer
from tests.support.own_step import OwnStep
from tests.support.pages import differences, sign_in, walk
from tests.support.prepared_home import prepared_home
from tests.support.running import output_of
from tests.support.stack import PROJECT, Stack
from tests.support.static_files import collected

DEMO = "order-import"
PAGES = sorted(
    page.with_name("README.md") for page in (PROJECT / "examples").glob("*/workflow.yaml")
)
EXAMPLES = [page.parent for page in PAGES if page.parent.name != DEMO]
SLOWEST = "stock-by-the-clock"  # it waits for the next full minute
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
FENCE = re.compile(r"```(yaml|sh)\n(.*?)```", re.DOTALL)
# The page sleeps a second where a user would look; we wait until nothing runs any more.
WAIT = """\
set -euo pipefail
sleep() {
  until [ "$(api "$URL/v1/WorkflowExecution?state=RUNNING")" = "[]" ]; do command sleep 0.1; done
}
"""


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeServer]:
    server = StripeServer()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> OwnStep:
    """Write a user's own step before the stack that loads it starts."""
    step = OwnStep(tmp_path_factory.mktemp("own"))
    assert "Wrote shop_steps/discount.py" in step.write()
    return step


@pytest.fixture(scope="module")
def stack(stripe: StripeServer, own: OwnStep, pytestconfig: pytest.Config) -> Iterator[Stack]:
    allowed = (
        own.environment
        | collected()
        | {
            "VALKYR_PYTHON_CODE": "1",
            "VALKYR_STRIPE_API_BASE": stripe.url,
            "VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8",
        }
    )
    with prepared_home(pytestconfig) as home, Stack(home, allowed) as stack:
        stack.wait_ready()
        yield stack


def test_the_tasks_of_the_api_are_done_as_printed_by_curl_and_by_python(
    stack: Stack,
) -> None:
    page = PROJECT / "docs" / "how-to" / "http-api.md"
    token = sign_in(stack)
    script = "".join(PYTHON.findall(page.read_text()))

    said = walk(page, stack, token)
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=PROJECT,
        env=os.environ | {"URL": stack.url, "TOKEN": token},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert differences(page, said) == []
    assert done.returncode == 0, done.stderr


def shell(script: str, stack: Stack, folder: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", WAIT + script],
        cwd=folder,
        env=os.environ | {"TOKEN": ""},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout + stack.text
    return done.stdout


def test_the_tutorials_workflow_runs_as_printed(stack: Stack, tmp_path: Path) -> None:
    page = (PROJECT / "docs" / "tutorial" / "first-workflow.md").read_text()
    blocks = FENCE.findall(page)
    (tmp_path / "keep-a-note.yaml").write_text(blocks[0][1])
    script = "".join(text for kind, text in blocks if kind == "sh")
    script = script.replace(".valkyr/", f"{stack.home}/").replace(
        "http://127.0.0.1:8000", stack.url
    )

    said = shell(script, stack, tmp_path)

    notes = (stack.home / "files" / "notes" / "today.txt").read_text().splitlines()
    assert [line.split("  ")[1] for line in notes] == ["buy tea", "wash up"]
    assert "must be below the files folder" in said


def test_the_demo_ends_as_it_expects_and_a_dead_letter_goes_home(
    stack: Stack, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "valkyr_project.demo"]
    demo = output_of(command, environment=stack.environment, seconds=180)
    assert "EXPECTED" not in demo

    printed = demo[demo.index("    . '") :].split("\n\n")[0]
    said = shell(printed, stack, tmp_path)

    assert '"stepPath":"validate.main"' in said
    assert '"attempt":2' in said


def test_a_step_of_ones_own_runs_in_a_workflow_as_printed(stack: Stack, own: OwnStep) -> None:
    assert "3 passed" in own.test()

    said = own.use(stack.url, sign_in(stack))

    assert said.strip() == own.printed.strip()


@pytest.fixture(scope="module")
def walks(stack: Stack) -> Iterator[dict[str, Future[list[str]]]]:
    """Execute every example's page as printed, a few at a time; yield the outputs as futures."""
    token = sign_in(stack)
    in_order = sorted(EXAMPLES, key=lambda example: example.name != SLOWEST)
    with ThreadPoolExecutor(3) as pool:
        yield {path.name: pool.submit(walk, path / "README.md", stack, token) for path in in_order}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_does_what_its_page_says(
    example: Path, walks: dict[str, Future[list[str]]]
) -> None:
    said = walks[example.name].result()

    assert differences(example / "README.md", said) == []
