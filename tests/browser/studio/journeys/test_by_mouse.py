"""The demo's order, drawn from nothing with the mouse: run, broken, repaired and published."""

from playwright.sync_api import Page, expect

from tests.browser.pictures import picture
from tests.browser.studio.canvas import handle, line, node
from tests.browser.studio.journeys import order
from tests.browser.studio.journeys.api import Api
from tests.browser.studio.journeys.screen import (
    details,
    draft_is,
    field,
    modules,
    pane,
    run_is,
    tasks_are,
    workflow_of,
)  # fmt: skip
from valkyr_project.demo.partner import PartnerServer


def draw(page: Page, step: order.Step, x: int, y: int) -> None:
    """Drag a module to a point of the canvas and name the task."""
    modules(page).get_by_role("button", name=step.module, exact=True).drag_to(
        pane(page), target_position={"x": x, "y": y}
    )
    call(page, step)


def call(page: Page, step: order.Step) -> None:
    """Give the newly added task its id."""
    identity = field(page, "ID")
    expect(identity).to_have_value("if" if step.module == "If" else "request")
    identity.fill(step.id)
    identity.blur()
    expect(node(page, step.id)).to_be_visible()


def ask_partner(page: Page, step: order.Step) -> None:
    """Fill in the form of a call."""
    field(page, "URL").fill(step.url)
    field(page, "Method").select_option("POST")
    details(page).get_by_role("button", name="JSON as JSON").click()
    details(page).get_by_role("textbox", name="JSON", exact=True).fill(order.BODY)


def connect(page: Page, source: str, outcome: str, target: str) -> None:
    """Drag from an outcome's handle to a task."""
    handle(page, source, outcome).drag_to(handle(page, target, "in"))
    expect(line(page, source, target, outcome)).to_be_attached()


def make_workflow(page: Page, name: str) -> None:
    page.goto("/studio/")
    page.get_by_role("button", name="New workflow").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_text("This workflow has no tasks yet")).to_be_visible()


def describe_payload(page: Page) -> None:
    """Describe the payload's fields in the workflow's panel."""
    panel = details(page)
    panel.get_by_role("tab", name="Input").click()
    for name, kind in (("orderId", "Text"), ("total", "Number")):
        panel.get_by_role("button", name="Add a field").click()
        added = panel.get_by_role("group", name="Field field")
        added.get_by_label("Type").select_option(kind)
        added.get_by_label("Required").check()
        added.get_by_label("Name").fill(name)
        expect(panel.get_by_role("group", name=f"Field {name}")).to_be_visible()


def name_partner(page: Page, url: str) -> None:
    """Add a variable with the partner's address."""
    panel = details(page)
    panel.get_by_role("tab", name="Variables").click()
    panel.get_by_role("button", name="Add to variables").click()
    panel.get_by_role("textbox", name="Name 1 of Variables").fill("partner")
    panel.get_by_role("textbox", name="Name 1 of Variables").blur()
    panel.get_by_role("textbox", name="Value of partner").fill(url)


def run_test(page: Page) -> None:
    """Run the draft as it is on screen."""
    page.get_by_role("button", name="Run…", exact=True).click()
    dialog = page.get_by_role("dialog", name="Run", exact=True)
    dialog.get_by_role("button", name="Show as JSON", exact=True).click()
    dialog.get_by_label("Payload (JSON)").fill(order.PAYLOAD)
    dialog.get_by_role("button", name="Run test").click()
    expect(dialog).to_have_count(0)


def test_an_order_is_drawn_run_broken_mended_and_published(
    desk: Page, api: Api, partner: PartnerServer
) -> None:
    make_workflow(desk, "Order by mouse")
    describe_payload(desk)
    name_partner(desk, partner.url)

    draw(desk, order.RESERVE, 30, 60)
    ask_partner(desk, order.RESERVE)
    modules(desk).get_by_role("button", name="If", exact=True).click()
    call(desk, order.BIG)
    field(desk, "Condition").fill(order.CONDITION)
    draw(desk, order.REVIEW, 30, 300)
    ask_partner(desk, order.REVIEW)
    draw(desk, order.CHARGE, 330, 300)
    ask_partner(desk, order.CHARGE)
    draw(desk, order.SHIP, 330, 480)
    ask_partner(desk, order.SHIP)
    desk.get_by_role("button", name="Tidy").click()
    connect(desk, "big", "true", "review")
    connect(desk, "big", "false", "charge")
    connect(desk, "review", "success", "charge")
    connect(desk, "charge", "success", "ship")
    desk.get_by_role("button", name="Tidy").click()
    expect(desk.get_by_role("button", name="No problems").first).to_be_visible()
    desk.get_by_role("button", name="Save", exact=True).click()
    draft_is(desk, "saved")
    workflow = workflow_of(desk)
    assert order.shape_of(api.draft(workflow)) == order.SHAPE

    run_test(desk)
    run_is(desk, "succeeded")
    tasks_are(desk, order.ENDED)

    node(desk, "charge").click()
    field(desk, "URL").fill("{{ vars.partner }}/charge")
    run_test(desk)
    run_is(desk, "failed")
    tasks_are(desk, {"reserve": "succeeded", "charge": "dead"})
    details(desk).get_by_role("button", name="Show data").click()
    details(desk).get_by_role("tab", name="Error").click()
    expect(details(desk).get_by_text("answered 404 Not Found").first).to_be_visible()
    picture(desk, "studio-failed")

    field(desk, "URL").fill(order.CHARGE.url)
    run_test(desk)
    run_is(desk, "succeeded")
    tasks_are(desk, order.ENDED)
    picture(desk, "studio")

    desk.get_by_role("button", name="Publish…", exact=True).click()
    dialog = desk.get_by_role("dialog", name="Publish")
    expect(dialog.get_by_text("This will be the first version")).to_be_visible()
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(desk.get_by_text("Published version").first).to_be_visible()
    versions = api(f"/v1/Workflow/{workflow}/versions")
    assert [one["kind"] for one in versions].count("published") == 1
