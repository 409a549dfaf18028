"""The demo's order again, only by keyboard: built, run, broken, repaired and published."""

from playwright.sync_api import Page, expect

from tests.browser.studio.canvas import node
from tests.browser.studio.journeys import order
from tests.browser.studio.journeys.api import Api
from tests.browser.studio.journeys.keyboard import choose, push, reach, write
from tests.browser.studio.journeys.screen import (
    details,
    draft_is,
    field,
    run_is,
    tasks_are,
    workflow_of,
)  # fmt: skip
from valkyr_project.demo.partner import PartnerServer


def make_workflow(page: Page, name: str) -> None:
    page.goto("/studio/")
    push(page, page.get_by_role("button", name="New workflow").first)
    dialog = page.get_by_role("dialog")
    write(page, dialog.get_by_label("Name"), name)
    push(page, dialog.get_by_role("button", name="Create"))
    expect(page.get_by_text("This workflow has no tasks yet")).to_be_visible()


def name_partner(page: Page, url: str) -> None:
    """Add a variable with the partner's address in the workflow's panel."""
    panel = details(page)
    reach(page, panel.get_by_role("tab", name="General"))
    reach(page, panel.get_by_role("tab", name="Variables"), "ArrowRight")
    push(page, panel.get_by_role("button", name="Add to variables"))
    write(page, panel.get_by_role("textbox", name="Name 1 of Variables"), "partner")
    page.keyboard.press("Tab")
    write(page, panel.get_by_role("textbox", name="Value of partner"), url)


def add(page: Page, step: order.Step) -> None:
    """Search for a module, add it after the selected task, and give it its id."""
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox", name="Search modules")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(step.module)
    expect(
        page.get_by_role("list", name="Search results").get_by_role("button").first
    ).to_be_visible()
    page.keyboard.press("Enter")
    identity = field(page, "ID")
    expect(identity).to_have_value("if" if step.module == "If" else "request")
    write(page, identity, step.id)
    page.keyboard.press("Tab")
    expect(node(page, step.id)).to_be_visible()


def ask_partner(page: Page, step: order.Step) -> None:
    """Fill in the form of a call."""
    write(page, field(page, "URL"), step.url)
    leave(page)
    choose(page, field(page, "Method"), "POST")
    push(page, details(page).get_by_role("button", name="JSON as JSON"))
    write(page, details(page).get_by_role("textbox", name="JSON", exact=True), order.BODY)
    leave(page)


def leave(page: Page) -> None:
    """Leave a field, so that single keys are commands again; the task stays selected.

    Escape closes the field's suggestions, then leaves the field. One more Escape would deselect the
    task.
    """
    while page.evaluate("() => document.activeElement.matches('input, textarea, select')"):
        page.keyboard.press("Escape")


def find(page: Page, task: str) -> None:
    """Move to a task by its name."""
    page.keyboard.press("Control+f")
    dialog = page.get_by_role("dialog", name="Find a task")
    expect(dialog.get_by_role("combobox")).to_be_focused()
    page.keyboard.insert_text(task)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(field(page, "ID")).to_have_value(task)


def connect(page: Page, source: str, outcome: str, target: str) -> None:
    find(page, source)
    page.keyboard.press("c")
    dialog = page.get_by_role("dialog", name="Connect")
    reach(page, dialog.get_by_role("radio", checked=True))
    reach(page, dialog.get_by_role("radio", name=outcome), "ArrowDown")
    page.keyboard.press("Space")
    reach(page, dialog.get_by_role("combobox"))
    page.keyboard.insert_text(target)
    page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)


def run_test(page: Page) -> None:
    """Run the draft as it is on screen."""
    push(page, page.get_by_role("button", name="Run…", exact=True))
    dialog = page.get_by_role("dialog", name="Run", exact=True)
    write(page, dialog.get_by_label("Payload (JSON)"), order.PAYLOAD)
    push(page, dialog.get_by_role("button", name="Run test"))
    expect(dialog).to_have_count(0)


def test_an_order_is_built_run_broken_mended_and_published_by_keys_alone(
    desk: Page, api: Api, partner: PartnerServer
) -> None:
    make_workflow(desk, "Order by keys")
    name_partner(desk, partner.url)

    for step in order.STEPS:
        leave(desk)
        add(desk, step)
        if step is order.BIG:
            write(desk, field(desk, "Condition"), order.CONDITION)
        else:
            ask_partner(desk, step)
    leave(desk)
    connect(desk, "big", "false", "charge")
    desk.keyboard.press("t")
    expect(desk.get_by_role("button", name="No problems").first).to_be_visible()
    desk.keyboard.press("Control+s")
    draft_is(desk, "saved")
    workflow = workflow_of(desk)
    assert order.shape_of(api.draft(workflow)) == order.SHAPE

    run_test(desk)
    run_is(desk, "succeeded")
    tasks_are(desk, order.ENDED)

    find(desk, "charge")
    write(desk, field(desk, "URL"), "{{ vars.partner }}/charge")
    leave(desk)
    run_test(desk)
    run_is(desk, "failed")
    tasks_are(desk, {"reserve": "succeeded", "charge": "dead"})

    find(desk, "charge")
    write(desk, field(desk, "URL"), order.CHARGE.url)
    leave(desk)
    run_test(desk)
    run_is(desk, "succeeded")

    push(desk, desk.get_by_role("button", name="Publish…", exact=True))
    dialog = desk.get_by_role("dialog", name="Publish")
    expect(dialog.get_by_text("This will be the first version")).to_be_visible()
    push(desk, dialog.get_by_role("button", name="Publish", exact=True))
    expect(desk.get_by_text("Published version").first).to_be_visible()
    versions = api(f"/v1/Workflow/{workflow}/versions")
    assert [one["kind"] for one in versions].count("published") == 1
