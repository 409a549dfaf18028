"""A workflow from code in the studio: shown with its runs, read-only, and copied for editing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from executions.publishing.from_code import publish_from_code
from runners.models import Run
from runners.waits.approvals import decide
from tests.browser.pictures import picture
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node
from tests.plugins.python_workflows import flows
from tests.support.accessibility import findings_in_both
from tests.support.python_steps import steps_of
from tests.support.segments import claimed, recorded
from tests.support.workflows import ACTOR
from valkyr_plugins.python_workflows.publishing import publish

pytestmark = pytest.mark.browser


@pytest.fixture
def written(transactional_db: None) -> Workflow:
    """Publish a workflow from code."""
    document = {"schema": "valkyr/1", "name": "Fulfil", **on.THREE}
    made = publish_from_code("fulfil", document, origin="shop.flows:fulfil", line=42)
    return Workflow.objects.get(pk=made.workflow_id)


@pytest.fixture
def traced(transactional_db: None) -> Iterator[Workflow]:
    """Publish a workflow that is a Python function, as `migrate` does."""
    with steps_of(flows):
        yield Workflow.objects.get(pk=publish(flows.fulfil).workflow_id)


def test_a_python_function_is_shown_as_its_graph_with_its_line_and_its_run_live(
    studio: Any, traced: Workflow, django_user_model: Any
) -> None:
    handle = flows.fulfil.start(order=flows.Order(id=7, total=2_000, lines=[1, 2]))

    page = studio(traced, f"?execution={handle.id}")

    source = Path(flows.__file__).read_text().splitlines()
    assert source[flows.fulfil.line - 1 : flows.fulfil.line + 1] == [
        "@workflow", "def fulfil(order: Order) -> Sent:",
    ]  # fmt: skip
    banner = page.get_by_role("region", name="From code")
    expect(banner).to_contain_text(f"{flows.__name__}:fulfil, line {flows.fulfil.line}")
    too_wide = page.locator(".palette-head").evaluate("one => one.scrollWidth > one.clientWidth")
    assert not too_wide  # by the name of the code, which cannot be broken across lines
    for task in ("paid", "parcels", "when", "approve", "ship"):
        expect(node(page, task)).to_be_visible()
    held = claimed(handle.id, "paid.main")
    expect(node(page, "paid")).to_contain_text("running")
    picture(page, "studio-python-running")
    recorded(held)
    assert on.carry(handle.id) == "RUNNING"
    expect(node(page, "paid")).to_contain_text("succeeded")
    expect(node(page, "parcels")).to_contain_text("2: 2 ok")
    expect(node(page, "approve")).to_contain_text("awaits approval")
    picture(page, "studio-python-waiting")

    run = Run.objects.get(execution_id=handle.id, step_path="approve.main")
    decide(run.pk, "approved", "", user=django_user_model.objects.get(), actor=ACTOR)
    assert on.carry(handle.id) == "SUCCESS"

    on.run_state(page, "succeeded")
    expect(node(page, "ship")).to_contain_text("succeeded")
    assert handle.output(timeout=0) == {"parcels": ["p1", "p2"], "receipt": "r7"}
    picture(page, "studio-python-ran")


def test_a_workflow_from_code_is_shown_read_only_and_its_run_is_followed(
    studio: Any, written: Workflow
) -> None:
    page = studio(written)

    banner = page.get_by_role("region", name="From code")
    expect(banner).to_contain_text("shop.flows:fulfil, line 42")
    expect(page.get_by_role("heading", name="Fulfil")).to_be_visible()
    for name in ("Save", "Publish…"):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_have_attribute("aria-disabled", "true")
        expect(button).to_have_attribute("title", re.compile("comes from code: shop.flows:fulfil"))
    assert findings_in_both(page) == []
    picture(page, "studio-from-code")

    dialog = on.open_run(page)
    on.payload(page, '{"n": 40}')
    with page.expect_response("**/execute") as sent:
        dialog.get_by_role("button", name="Run", exact=True).click()
    execution = UUID(sent.value.json()["id"])
    assert on.carry(execution) == "SUCCESS"
    on.run_state(page, "succeeded")
    expect(node(page, "sum")).to_contain_text("succeeded")
    picture(page, "studio-from-code-ran")


def test_a_workflow_from_code_is_taken_over_by_one_click(studio: Any, written: Workflow) -> None:
    page = studio(written)

    page.get_by_role("button", name="Create an editable copy").click()

    expect(page.get_by_role("button", name="Publish…", exact=True)).to_be_enabled()
    expect(page.get_by_label("Name of the workflow")).to_have_value("Fulfil (copy)")
    expect(page.get_by_role("region", name="From code")).to_have_count(0)
    copy = Workflow.objects.get(slug="fulfil-copy")
    assert str(copy.pk) in page.url
    picture(page, "studio-taken-over")
