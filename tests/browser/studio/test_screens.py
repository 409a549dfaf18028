"""Every screen of the studio in light and in dark has no findings of axe; pictures are saved."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import expect

from executions.definition.graph.yaml_text import read_yaml
from executions.publishing import versioning
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node
from tests.browser.studio.looking import look
from tests.support.stack import PROJECT
from tests.support.workflows import ACTOR

pytestmark = pytest.mark.browser

DEMO: dict[str, Any] = read_yaml(
    (PROJECT / "examples" / "order-import" / "workflow.yaml").read_text()
)
N8N = {
    "name": "New orders",
    "nodes": [
        {
            "name": "Every morning",
            "type": "n8n-nodes-base.scheduleTrigger",
            "position": [0, 0],
            "parameters": {"rule": {"interval": [{"field": "hours", "hoursInterval": 6}]}},
        },
        {
            "name": "Fetch orders",
            "type": "n8n-nodes-base.httpRequest",
            "position": [220, 0],
            "parameters": {"url": "https://shop.example.com/orders?since={{ $today }}"},
        },
        {
            "name": "Large?",
            "type": "n8n-nodes-base.if",
            "position": [440, 0],
            "parameters": {},
        },
        {
            "name": "Reckon",
            "type": "n8n-nodes-base.code",
            "position": [660, 0],
            "parameters": {"jsCode": "return require('x');"},
        },
    ],
    "connections": {
        "Every morning": {"main": [[{"node": "Fetch orders", "type": "main", "index": 0}]]},
        "Fetch orders": {"main": [[{"node": "Large?", "type": "main", "index": 0}]]},
        "Large?": {"main": [[{"node": "Reckon", "type": "main", "index": 0}]]},
    },
}


def value(task: str, name: str, after: str = "") -> dict[str, Any]:
    """Return a task that returns a value at once."""
    made = {"id": task, "name": name, "use": "data.set", "with": {"values": {"order": 1047}}}
    return made | ({"after": after} if after else {})


ORDER: dict[str, Any] = {
    "tasks": [
        value("validate", "Check the order"),
        value("reserve", "Reserve stock", "validate"),
        {
            "id": "risky",
            "name": "Above 1,000?",
            "use": "flow.if",
            "with": {"condition": "{{ input.total > 1000 }}"},
            "after": "reserve",
        },
        value("review", "Ask for a credit check", "risky:true"),
        value("charge", "Charge the card", "risky:false"),
        {"id": "pack", "name": "Pack it", "use": "flow.map", "after": "charge",
         "with": {"items": "{{ [1, 2, 3] }}"}, "body": {"tasks": [value("wrap", "Wrap")]}},
        {
            "id": "release",
            "name": "Let it go?",
            "use": "flow.approval",
            "with": {"title": "Ship it?"},
            "after": "pack",
        },
        value("ship", "Hand over to the carrier", "release:approved"),
    ],
    "input": {"properties": {"total": {"type": "number", "default": 40}}},
}  # fmt: skip


def test_an_empty_studio(studio: Any, workflow: Any) -> None:
    page = studio(workflow())
    expect(page.get_by_text("This workflow has no tasks yet")).to_be_visible()
    look(page, "studio-empty")


def test_the_demo_with_the_form_of_a_task(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**DEMO))
    node(page, "reserve").click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("Parameters")
    look(page, "studio-form")


def test_problems(studio: Any, workflow: Any) -> None:
    broken = json.loads(json.dumps(DEMO).replace("tasks.validate.output", "tasks.nobody.output"))
    broken["tasks"][1]["with"]["method"] = "FETCH"
    page = studio(workflow(**broken))
    page.get_by_role("button", name=re.compile(r"^\d+ problems")).first.click()
    expect(page.get_by_role("region", name="Problems")).to_contain_text("nobody")
    look(page, "studio-problems")


def test_a_run_while_it_runs(studio: Any, workflow: Any) -> None:
    made = workflow(**ORDER)
    page = studio(made)
    on.open_run(page)
    look(page, "studio-run-dialog")
    page.get_by_role("button", name="Show as JSON", exact=True).click()
    on.payload(page, '{"total": 40}')
    assert on.carry(on.start_test(page, made)) == "RUNNING"
    expect(node(page, "release")).to_contain_text("awaits approval")
    expect(node(page, "charge")).to_contain_text("succeeded")
    node(page, "charge").click()
    page.get_by_role("button", name="Show data").click()
    page.get_by_role("tab", name="Output").click()
    expect(page.get_by_role("complementary", name="Details")).to_contain_text("1047")
    look(page, "studio-run")


def test_what_publishing_would_change(studio: Any, workflow: Any) -> None:
    made = workflow(**ORDER)
    versioning.publish(made.pk, actor=ACTOR)
    page = studio(made)
    node(page, "review").click()
    page.keyboard.press("Delete")
    node(page, "charge").click()
    name = page.get_by_role("complementary", name="Details").get_by_role(
        "textbox", name="Name", exact=True
    )
    name.fill("Charge the customer's card")
    page.get_by_role("button", name="Publish…", exact=True).click()
    expect(page.get_by_role("dialog", name="Publish")).to_contain_text("Charge the customer's card")
    look(page, "studio-publish")


def test_the_home_and_what_becomes_of_an_n8n_workflow(staff_page: Any, workflow: Any) -> None:
    for name in ("Order import", "Refund approval", "Sales report", "Shop webhook"):
        workflow(name)
    staff_page.goto(f"{staff_page.home}/studio/")
    expect(staff_page.get_by_role("link", name="Sales report")).to_be_visible()
    look(staff_page, "studio-home")

    staff_page.get_by_role("button", name="Import…").click()
    staff_page.get_by_label("Or paste the text").fill(json.dumps(N8N))
    staff_page.get_by_role("button", name="Use pasted text").click()
    expect(staff_page.get_by_role("dialog")).to_contain_text("Reckon")
    look(staff_page, "studio-n8n")


def test_the_list_and_the_text(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**DEMO))
    page.get_by_role("button", name="List", exact=True).click()
    expect(page.get_by_role("region", name="Tasks")).to_be_visible()
    look(page, "studio-list")
    page.get_by_role("button", name="YAML", exact=True).click()
    expect(page.get_by_role("region", name="YAML")).to_be_visible()
    look(page, "studio-yaml")


def test_a_telephone(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**DEMO))
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.get_by_role("region", name="Tasks")).to_be_visible()
    sideways = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(sideways) <= 0
    look(page, "studio-phone")
