"""An operator's work on a whole stack: the demo's failures, one user, a browser.

The tests find, compare, fix and requeue failures. They give an approval and watch its execution
until its end. They kill a worker's process, which is replaced. Every test works on its own
failures, and makes changes only through the pages.
"""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.acting import page_action
from tests.browser.pictures import picture
from tests.browser.watched import cookies_of, watched
from tests.support.accessibility import findings
from tests.support.pages import sign_in
from tests.support.stack import PROJECT, Stack
from tests.support.waiting import wait_until

GROUPS, LETTERS = "/admin/dlq/failuregroup/", "/admin/dlq/deadletterentry/"
EXECUTIONS = "/admin/executions/workflowexecution/"
SLOW = {
    "schema": "valkyr/1",
    "name": "slow-sum",
    "tasks": [
        {
            "id": "sum",
            "use": "python.code",
            "with": {
                "code": "import time\ndef main(inputs):\n    time.sleep(6)\n    return len(inputs)",
                "inputs": [1, 2, 3],
            },
        }
    ],
}


@pytest.fixture(scope="module")
def stack(whole_stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Run a whole stack after the demo, whose partner still answers."""
    log = tmp_path_factory.mktemp("desk") / "demo.log"
    with log.open("w") as written:
        demo = subprocess.Popen(
            [sys.executable, "-u", "-m", "valkyr_project.demo", "--stay"],
            cwd=PROJECT,
            env=whole_stack.environment,
            stdout=written,
            stderr=subprocess.STDOUT,
        )
    try:
        _wait_for_demo(log, demo)
        yield whole_stack
    finally:
        demo.terminate()
        demo.wait(120)


def _wait_for_demo(log: Path, demo: "subprocess.Popen[bytes]") -> None:
    def through() -> bool:
        return "The partner continues to run" in log.read_text() or demo.poll() is not None

    wait_until(through, 180, "the demo's end")
    assert demo.poll() is None, log.read_text()


@pytest.fixture(scope="module")
def signed_in(stack: Stack, browser: Browser) -> Any:
    """Return the cookies of the stack's administrator."""
    return cookies_of(stack, browser, "/admin/")


@pytest.fixture
def desk(stack: Stack, browser: Browser, signed_in: Any) -> Iterator[Page]:
    """Yield an operator's page; any console message fails the test."""
    with watched(stack, browser, signed_in) as page:
        yield page


def api(stack: Stack, path: str, body: Any = None) -> Any:
    """Return the API's answer to a GET request, or with a body to a POST request."""
    request = urllib.request.Request(
        f"{stack.url}{path}",
        None if body is None else json.dumps(body).encode(),
        {"Authorization": f"Bearer {sign_in(stack)}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def started(stack: Stack, definition: Path | dict[str, Any], params: Any) -> str:
    """Import, publish and execute a workflow; return the execution's id."""
    if isinstance(definition, Path):
        import yaml

        definition = yaml.safe_load(definition.read_text())
    made = api(stack, "/v1/Workflow", {"name": definition["name"], "definition": definition})
    api(stack, f"/v1/Workflow/{made['id']}/publish", {})
    done = api(stack, f"/v1/WorkflowExecution/{made['id']}/execute", {"params": params})
    return str(done["id"])


def open_group(page: Page, step: str) -> None:
    """Open the group of that step from the list of failures."""
    page.goto(GROUPS)
    page.get_by_role("row").filter(has_text=step).get_by_role("link").first.click()
    expect(page.get_by_role("link", name=re.compile(r"^[\d,]+ open$"))).to_be_visible()


def act(page: Page, title: str) -> Locator:
    """Press the page's button with this title; return its dialog."""
    page_action(page, title, exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def start_draft(page: Page) -> None:
    """Start the draft on the page."""
    expect(page.get_by_role("region", name="Preview")).to_be_visible()
    act(page, "Start…").get_by_role("button", name="Start").click()


def test_what_broke_is_found_compared_mended_and_sent_home(desk: Page) -> None:
    desk.goto("/admin/")
    expect(desk.get_by_role("link", name=re.compile("^Open dead letters"))).to_be_visible()
    picture(desk, "desk-home")
    desk.goto(GROUPS)
    expect(desk.get_by_role("row").filter(has_text="reserve.main")).to_contain_text("of 4")
    picture(desk, "desk-failures")

    open_group(desk, "validate.main")
    picture(desk, "desk-group")
    assert findings(desk) == []
    desk.get_by_role("region", name="Newest dead letters").get_by_role("link").first.click()
    compared = desk.get_by_role("region", name="Compared with the last successful run")
    expect(compared).to_contain_text("changed")
    picture(desk, "desk-entry")

    open_group(desk, "validate.main")
    desk.get_by_role("link", name="Redrive…").locator("visible=true").first.click()
    desk.get_by_label("Overrides (JSON merge patch)").fill('{"data": "mended@example.com"}')
    desk.get_by_label("Reason").fill("mail addresses put right")
    desk.get_by_role("button", name="Create draft").click()
    expect(desk.get_by_role("region", name="Inputs before and after")).to_contain_text(
        "mended@example.com"
    )
    picture(desk, "desk-redrive-draft")
    start_draft(desk)

    expect(desk.get_by_text("2 of 2 ended: 2 succeeded")).to_be_visible(timeout=240_000)
    picture(desk, "desk-redrive-done")
    assert findings(desk) == []


def test_a_dead_shipment_goes_home_by_keyboard_alone(desk: Page) -> None:
    desk.goto(GROUPS)
    row = desk.get_by_role("row").filter(has_text="ship.main")
    expect(row).to_be_visible()
    for _ in range(10):
        desk.keyboard.press("j")
        if row.evaluate("row => row.contains(document.activeElement)"):
            break
    desk.keyboard.press("r")
    desk.wait_for_url(re.compile("/redrive/new/"))
    desk.get_by_label("Reason").focus()
    desk.keyboard.type("the carrier answers again")
    desk.keyboard.press("Enter")
    start = desk.get_by_role("link", name="Start…").locator("visible=true").first
    expect(start).to_be_visible()
    start.focus()
    desk.keyboard.press("Enter")
    expect(desk.get_by_role("dialog").get_by_label("Reason")).to_be_focused()
    desk.keyboard.press("Enter")

    expect(desk.get_by_text("1 of 1 ended: 1 succeeded")).to_be_visible(timeout=240_000)


def test_a_failure_is_given_up_and_taken_back(desk: Page) -> None:
    open_group(desk, "reserve.main")
    newest = desk.get_by_role("region", name="Newest dead letters")
    newest.get_by_role("row").filter(has_text="open").get_by_role("link").first.click()
    given_up = act(desk, "Discard…")
    given_up.get_by_role("textbox").first.fill("the article is no longer sold")
    given_up.get_by_role("button", name="Discard").click()
    expect(desk.get_by_text(re.compile("discarded$")).first).to_be_visible()

    act(desk, "Restore…").get_by_role("button", name="Restore").click()

    expect(desk.get_by_text(re.compile("(?<!re)open$")).first).to_be_visible()


def test_an_approval_is_given_while_its_execution_is_watched(desk: Page, stack: Stack) -> None:
    example = PROJECT / "examples" / "refund-approval" / "workflow.yaml"
    execution = started(stack, example, {"orderId": "A-17", "euros": 240})
    desk.goto(f"{EXECUTIONS}{execution}/change/")
    expect(desk.get_by_role("button", name=re.compile("decide.*awaits approval"))).to_be_visible()

    other = desk.context.new_page()
    other.goto("/admin/runners/approval/")
    other.get_by_role("link", name=re.compile("A-17")).first.click()
    act(other, "Approve…").get_by_role("button", name="Approve").click()

    expect(desk.get_by_role("button", name=re.compile("refund.*succeeded"))).to_be_visible()
    expect(desk.get_by_text(re.compile("finished$")).first).to_be_visible()
    picture(desk, "desk-monitor")
    assert findings(desk) == []


def test_a_killed_worker_process_is_seen_and_its_step_taken_over(desk: Page, stack: Stack) -> None:
    execution = started(stack, SLOW, {})
    desk.goto(f"{EXECUTIONS}{execution}/change/")
    bar = desk.get_by_role("button", name=re.compile("sum.*running"))
    expect(bar).to_be_visible()

    _holder(stack).kill()

    expect(desk.get_by_role("button", name=re.compile("sum.*succeeded"))).to_be_visible(
        timeout=240_000
    )
    run = api(stack, f"/v1/Run?executionId={execution}")[0]
    assert (run["state"], run["attempt"]) == ("SUCCESS", 1)
    desk.get_by_role("button", name=re.compile("sum.*succeeded")).click()
    expect(desk.get_by_text("1 (worker lost)")).to_be_visible()


def _holder(stack: Stack) -> psutil.Process:
    """Return the worker's child that runs the code: it has a child process."""
    found: list[psutil.Process] = []

    def look() -> bool:
        worker = stack.find("default@")
        assert worker is not None, stack.text
        found[:] = [child for child in worker.children() if child.children()]
        return bool(found)

    wait_until(look, 30, "a worker's child that runs code")
    return found[0]


def test_a_process_that_keeps_ending_is_named_on_every_page(desk: Page, stack: Stack) -> None:
    failing = stack.home / "failing.json"
    execution = started(stack, {**SLOW, "name": "under-a-notice"}, {})
    workflow = api(stack, f"/v1/WorkflowExecution/{execution}")["workflowId"]
    pages = (
        "/admin/",
        EXECUTIONS,
        f"{EXECUTIONS}{execution}/change/",
        "/studio/",
        f"/studio/{workflow}/",
    )
    notice = desk.locator("#vk-health")

    def told(status: str) -> None:
        """Wait until the health answer, which is cached for a second, has this status."""
        wait_until(
            lambda: api(stack, "/actuator/health")["components"]["processes"]["status"] == status,
            30,
            f"that processes are {status}",
        )

    try:
        failing.write_text('{"worker-io": "exit code 1"}')
        told("DOWN")
        for page in pages:
            desk.goto(page)
            expect(notice).to_contain_text("worker-io (exit code 1) keeps ending")
            expect(notice).to_contain_text("worker-io.log")
        desk.goto("/admin/")
        expect(notice).to_be_visible()
        assert findings(desk) == []
        picture(desk, "desk-failing-process")
        notice.get_by_role("button", name="Hide").click()
        expect(notice).to_have_count(0)
    finally:
        failing.write_text("{}")
    told("UP")
    desk.goto("/admin/")
    with desk.expect_response("**/actuator/health"):
        desk.reload()
    expect(notice).to_have_count(0)
