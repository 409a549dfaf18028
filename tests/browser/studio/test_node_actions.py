"""Actions on a node: its link, and running it."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture
from tests.browser.studio import running as on
from tests.browser.studio.canvas import node, notice, task
from tests.support.accessibility import findings_in_both

pytestmark = pytest.mark.browser

FAR = [task(f"step{at}", 300 * at) for at in range(30)]
LOOP: list[Any] = [
    task(
        "refine",
        **{"with": {"count": 2}},
        body={"tasks": [task("draft")], "edges": []},
        use="flow.loop",
    ),
]


def actions(page: Any, name: str) -> Any:
    """Return the actions above a node."""
    return page.get_by_role("toolbar", name=f"Actions of {name}", exact=True)


def test_a_link_opens_the_workflow_with_its_task_selected_in_the_middle(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(tasks=FAR)
    page = studio(stored, "?task=step25")
    expect(node(page, "step25")).to_have_class(re.compile("selected"))
    expect(node(page, "step25")).to_be_in_viewport(ratio=0.99)
    expect(page.get_by_label("ID", exact=True)).to_have_value("step25")


def test_a_link_to_a_task_in_a_folded_loop_opens_the_loop(studio: Any, workflow: Any) -> None:
    folded = [LOOP[0] | {"ui": {"x": 0, "y": 0, "collapsed": True}}]
    page = studio(workflow(tasks=folded), "?task=refine.draft")
    expect(node(page, "refine.draft")).to_have_class(re.compile("selected"))
    expect(node(page, "refine.draft")).to_be_in_viewport(ratio=0.99)


def test_a_link_to_a_task_that_is_gone_says_so(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=FAR[:2]), "?task=other")
    expect(notice(page)).to_have_text("The linked task other is not in the draft.")


def test_the_link_is_copied_from_the_node_and_from_its_details(studio: Any, workflow: Any) -> None:
    stored = workflow(tasks=FAR[:2])
    page = studio(stored)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    wanted = f"{page.home}/studio/{stored.pk}/?task=step1"
    node(page, "step1").hover()
    actions(page, "step1").get_by_role("button", name="Copy link").click()
    expect(notice(page)).to_have_text("Link copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == wanted
    page.evaluate("() => navigator.clipboard.writeText('')")
    node(page, "step1").click()
    page.get_by_role("complementary").get_by_role("button", name="Copy link").click()
    page.wait_for_function(
        "(link) => navigator.clipboard.readText().then((text) => text === link)", arg=wanted
    )


def test_a_task_runs_from_its_node_with_two_presses(studio: Any, workflow: Any) -> None:
    stored = workflow(**on.THREE)
    page = studio(stored)
    node(page, "second").hover()
    picture(page, "studio-node-bar")
    actions(page, "Second number").get_by_role("button", name="Run this task only").click()
    dialog = on.run_dialog(page)
    expect(dialog.get_by_label("Part", exact=True)).to_have_value("only")
    expect(dialog.get_by_label("Task", exact=True)).to_have_value("second")
    expect(dialog.get_by_role("button", name="Run test")).to_be_focused()
    with page.expect_response(f"**/v1/Workflow/{stored.pk}/test") as sent:
        page.keyboard.press("Enter")
    execution = sent.value.json()["id"]
    assert on.carry(execution) == "SUCCESS"
    assert on.steps(execution) == {"second.main": "SUCCESS"}
    on.run_state(page, "succeeded")


def test_the_actions_are_reached_by_tab_from_the_selected_node(studio: Any, workflow: Any) -> None:
    page = studio(workflow(**on.THREE))
    node(page, "first").focus()
    expect(actions(page, "First number")).to_be_visible()
    page.keyboard.press("Enter")
    assert findings_in_both(page) == []
    page.keyboard.press("Tab")
    upto = actions(page, "First number").get_by_role("button", name="Run up to here")
    expect(upto).to_be_focused()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    alone = actions(page, "First number").get_by_role("button", name="Run this task only")
    expect(alone).to_be_focused()
    page.keyboard.press("Escape")
    expect(node(page, "first")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(on.run_dialog(page).get_by_label("Part", exact=True)).to_have_value("upTo")


def test_a_task_in_a_loop_says_that_it_runs_as_a_whole(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=LOOP))
    node(page, "refine.draft").hover()
    alone = actions(page, "draft").get_by_role("button", name="Run this task only")
    expect(alone).to_have_attribute("aria-disabled", "true")
