"""The list of workflows, and the ways to create one: from nothing, an example, or files."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from tests.browser.holding import Held
from tests.browser.pictures import picture, picture_in_both
from tests.support.accessibility import findings, findings_in_both
from tests.support.workflows import default_workspace

pytestmark = pytest.mark.browser

ORDERS = """schema: valkyr/1
name: Order fulfilment
tasks:
  - {id: fetch, use: data.set, with: {values: {}}}
  - {id: risky, use: flow.if, with: {condition: "{{ true }}"}, after: fetch}
"""

N8N: dict[str, Any] = {
    "name": "Orders of n8n",
    "nodes": [
        {
            "name": "Start",
            "type": "n8n-nodes-base.manualTrigger",
            "typeVersion": 1,
            "position": [0, 0],
            "parameters": {},
        },
        {
            "name": "Get order",
            "type": "n8n-nodes-base.httpRequest",
            "typeVersion": 4,
            "position": [200, 0],
            "parameters": {"url": "https://shop.example.com/orders/1"},
        },
        {
            "name": "Unheard of",
            "type": "n8n-nodes-base.unheardOf",
            "typeVersion": 1,
            "position": [400, 0],
            "parameters": {},
        },
        {
            "name": "A note",
            "type": "n8n-nodes-base.stickyNote",
            "typeVersion": 1,
            "position": [0, 200],
            "parameters": {"content": "Look here"},
        },
    ],
    "connections": {
        "Start": {"main": [[{"node": "Get order", "type": "main", "index": 0}]]},
        "Get order": {"main": [[{"node": "Unheard of", "type": "main", "index": 0}]]},
    },
}


LISTS = re.compile(r"/v1/Workflow/?\?")


@pytest.fixture(autouse=True)
def somewhere_to_make_workflows(transactional_db: None) -> None:
    default_workspace()


def home(page: Any) -> Any:
    page.goto(f"{page.home}/studio/")
    expect(page.get_by_role("heading", name="Workflows")).to_be_visible()
    return page


def importing(page: Any, text: str) -> Any:
    """Open the dialog for files, paste a text and read it; return the dialog."""
    page.get_by_role("button", name="Import…").click()
    page.get_by_label("Or paste the text").fill(text)
    page.get_by_role("button", name="Use pasted text").click()
    return page.get_by_role("dialog", name="Import workflows")


def test_a_new_installation_offers_the_ways_to_begin(staff_page: Any) -> None:
    page = home(staff_page)
    expect(page.get_by_text("No workflows yet.")).to_be_visible()
    assert findings(page) == []
    picture(page, "studio-home-empty")
    page.get_by_role("button", name="New workflow").click()
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("Give the workflow a name.")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("Order fulfilment")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/studio/[0-9a-f-]{36}/$"))
    expect(page.get_by_role("region", name="Canvas", exact=True)).to_be_visible()
    assert Workflow.objects.get().name == "Order fulfilment"


def holding_lists(page: Any) -> list[Any]:
    """Hold back lists of workflows from now on; return the waiting requests."""
    held: list[Any] = []
    page.route(LISTS, lambda route: held.append(route))  # noqa: PLW0108 - no built-in will do
    return held


def test_what_one_clicks_does_not_move_when_the_list_comes(staff_page: Any) -> None:
    held = holding_lists(staff_page)
    with staff_page.expect_request(LISTS):
        page = home(staff_page)
    ways = page.get_by_role("button", name="Import…")

    expect(page.get_by_label("Search by name")).to_be_visible()
    expect(ways).to_have_count(0)
    held.pop().continue_()
    expect(ways).to_have_count(1)


def test_a_search_without_a_match_keeps_its_field(staff_page: Any, workflow: Any) -> None:
    workflow("orders")
    page = home(staff_page)
    field = page.get_by_label("Search by name")
    field.fill("zzz")
    expect(page.get_by_text("No workflow's name begins with this text.")).to_be_visible()
    held = holding_lists(page)

    with page.expect_request(LISTS):
        field.fill("")

    expect(field).to_be_focused()
    held.pop().continue_()
    expect(page.get_by_role("link", name="orders")).to_be_visible()


def test_an_example_is_begun_with(staff_page: Any) -> None:
    page = home(staff_page)
    page.get_by_role("button", name="New workflow").click()
    dialog = page.get_by_role("dialog", name="New workflow")
    expect(dialog.get_by_role("radio").nth(5)).to_be_attached()
    expect(dialog.get_by_role("button", name="Create")).to_be_in_viewport()
    picture(page, "studio-new-all")
    page.get_by_label("Search the examples").fill("approval")
    page.keyboard.press("Enter")
    dialog.get_by_role("radio").nth(1).check()
    picture(page, "studio-new")
    assert findings(page, "dialog") == []
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("region", name="Canvas", exact=True)).to_be_visible()
    uses = [task["use"] for task in Workflow.objects.get().definition["tasks"] if "use" in task]
    assert "flow.approval" in uses


def test_workflows_are_listed_searched_and_paged(staff_page: Any, workflow: Any) -> None:
    for number in range(52):
        workflow(f"order {number:02d}")
    page = home(staff_page)
    rows = page.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(51)
    page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(53)
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
    page.get_by_role("searchbox", name="Search by name").fill("Order 17")
    expect(rows).to_have_count(2)
    expect(rows.nth(1)).to_contain_text("draft only")
    page.get_by_role("searchbox", name="Search by name").fill("zzz")
    expect(page.get_by_text("No workflow's name begins with this text.")).to_be_visible()


def test_only_of_what_is_searched_there_is_more(staff_page: Any, workflow: Any) -> None:
    for number in range(51):
        workflow(f"order {number:02d}")
    page = home(staff_page)
    more = page.get_by_role("button", name="Show more")
    expect(more).to_be_visible()
    Held(page, "**/v1/Workflow?**")

    page.get_by_label("Search by name").fill("order 1")

    expect(more).to_have_count(0)


def test_the_list_is_readable_and_fits_a_telephone(staff_page: Any, workflow: Any) -> None:
    made = workflow("Order fulfilment")
    Workflow.objects.filter(pk=made.pk).update(description="Reserve, charge and ship an order.")
    workflow("Nightly report")
    page = home(staff_page)
    expect(page.get_by_role("table")).to_be_visible()
    picture_in_both(page, "studio-home")
    assert findings_in_both(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    picture_in_both(page, "studio-home-390")
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0
    importing(page, "nothing of ours")
    assert findings_in_both(page, "dialog") == []
    picture_in_both(page, "studio-import-390")


def test_yaml_becomes_a_draft(staff_page: Any) -> None:
    page = home(staff_page)
    dialog = importing(page, ORDERS)
    expect(dialog.get_by_text("YAML, 2 tasks")).to_be_visible()
    dialog.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("region", name="Canvas", exact=True)).to_be_visible()
    assert Workflow.objects.get().name == "Order fulfilment"


def test_a_name_that_is_taken_is_told_with_choices(staff_page: Any, workflow: Any) -> None:
    workflow("Order fulfilment")
    page = home(staff_page)
    dialog = importing(page, ORDERS)
    dialog.get_by_role("button", name="Create draft").click()
    expect(dialog.get_by_text("the name is taken")).to_be_visible()
    dialog.get_by_role("button", name="Create with a different name").click()
    expect(dialog.get_by_role("link", name="Open")).to_be_visible()
    names = set(Workflow.objects.values_list("name", flat=True))
    assert names == {"Order fulfilment", "Order fulfilment 2"}
    # Chromium itself writes rejected requests to the console.
    page.problems[:] = [one for one in page.problems if "409 (Conflict)" not in one]


def test_several_files_become_drafts_and_others_are_refused(
    staff_page: Any, tmp_path: Path
) -> None:
    (tmp_path / "a.yaml").write_text(ORDERS)
    (tmp_path / "b.json").write_text(json.dumps({"name": "Other", "tasks": []}))
    (tmp_path / "c.json").write_text("{")
    page = home(staff_page)
    page.get_by_role("button", name="Import…").click()
    files = [tmp_path / name for name in ("a.yaml", "b.json", "c.json")]
    page.locator("input[type=file]").set_input_files(files)
    dialog = page.get_by_role("dialog", name="Import workflows")
    expect(dialog.get_by_text("Invalid JSON")).to_be_visible()
    dialog.get_by_role("button", name="Create 2 drafts").click()
    expect(dialog.get_by_role("link", name="Open")).to_have_count(2)
    assert Workflow.objects.count() == 2


def test_a_second_press_creates_nothing_twice(staff_page: Any, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(ORDERS)
    (tmp_path / "b.json").write_text(json.dumps({"name": "Other", "tasks": []}))
    page = home(staff_page)
    page.get_by_role("button", name="Import…").click()
    page.locator("input[type=file]").set_input_files([tmp_path / "a.yaml", tmp_path / "b.json"])
    dialog = page.get_by_role("dialog", name="Import workflows")
    creating = Held(page, "**/v1/Workflow/import*", "POST")

    dialog.get_by_role("button", name="Create 2 drafts").dblclick()

    creating.let_go()
    expect(dialog.get_by_role("link", name="Open")).to_have_count(2)
    assert Workflow.objects.count() == 2


def test_a_file_that_takes_longer_does_not_come_in_place_of_a_later_one(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow("mine"))
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Import…").click()
    looking = Held(page, "**/v1/Workflow/import-n8n*", "POST")
    for text in (json.dumps(N8N), ORDERS):
        page.get_by_label("Or paste the text").fill(text)
        page.get_by_role("button", name="Use pasted text").click()

    with page.expect_response("**/v1/Workflow/import-n8n*") as looked:
        looking.let_go()
    looked.value.finished()
    page.evaluate("() => new Promise(requestAnimationFrame)")

    expect(page.get_by_text("can be imported.")).to_be_visible()
    page.get_by_role("button", name="Replace the draft").click()
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("button", name="fetch", exact=True)).to_be_visible()


def test_a_file_replaces_the_open_draft_and_undo_brings_it_back(studio: Any, workflow: Any) -> None:
    page = studio(workflow("mine", tasks=[{"id": "old", "use": "data.set", "with": {}}]))
    page.get_by_role("button", name="More").click()
    page.keyboard.press("ArrowDown")
    page.get_by_role("menuitem", name="Import…").click()
    page.get_by_label("Or paste the text").fill(ORDERS)
    page.get_by_role("button", name="Use pasted text").click()
    page.get_by_role("button", name="Replace the draft").click()
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("button", name="fetch", exact=True)).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("button", name="old", exact=True)).to_be_visible()


def test_the_draft_is_downloaded_as_it_is_on_the_screen(studio: Any, workflow: Any) -> None:
    page = studio(workflow("My orders"))
    page.get_by_role("button", name="No operation").click()
    for item, ending in [("Download as YAML", "yaml"), ("Download as JSON", "json")]:
        page.get_by_role("button", name="More").click()
        with page.expect_download() as download:
            page.get_by_role("menuitem", name=item).click()
        assert download.value.suggested_filename == f"my-orders.{ending}"
        assert "flow.noop" in Path(download.value.path()).read_text()


def test_a_copy_is_made_and_opened(studio: Any, workflow: Any) -> None:
    page = studio(workflow("mine"))
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Duplicate").click()
    expect(page).to_have_title(re.compile(r"^mine \(copy\)"))
    assert set(Workflow.objects.values_list("name", flat=True)) == {"mine", "mine (copy)"}


def test_the_look_is_chosen_for_the_admin_too(studio: Any, workflow: Any) -> None:
    page = studio(workflow())
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitemradio", name="Dark").click()
    assert page.evaluate("localStorage.adminTheme") == '"dark"'
    expect(page.locator("html")).to_have_class("dark")


def test_an_n8n_export_is_looked_at_before_it_becomes_a_draft(staff_page: Any) -> None:
    page = home(staff_page)
    dialog = importing(page, json.dumps(N8N))
    expect(dialog.get_by_text("n8n, 4 nodes")).to_be_visible()
    table = dialog.get_by_role("region", name="Nodes").get_by_role("table")
    expect(table.get_by_role("row", name=re.compile("^Get order"))).to_contain_text("http.request")
    expect(table.get_by_role("row", name=re.compile("^Unheard of"))).to_contain_text(
        "not converted"
    )
    assert Workflow.objects.count() == 0
    assert findings(page, "dialog") == []
    picture(page, "studio-n8n-report")
    dialog.get_by_role("button", name="Create draft").click()
    expect(page.get_by_role("region", name="Canvas", exact=True)).to_be_visible()
    assert Workflow.objects.get().name == "Orders of n8n"
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Import report").click()
    report = page.get_by_role("dialog", name="Import report")
    expect(report.get_by_role("row", name=re.compile("^Get order"))).to_be_visible()
