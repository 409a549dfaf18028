"""An execution's page in a real browser; its live part reads the real stream."""

import json
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from executions import lifecycle
from executions.models import Membership, WorkflowExecution
from runners.models import Run
from runners.planning import plan_execution
from runners.waits.approvals import decide
from tests.browser import monitored
from tests.browser.acting import page_action
from tests.browser.holding import Held
from tests.browser.pictures import picture, picture_in_both
from tests.support.accessibility import findings_in_both
from tests.support.segments import claimed, recorded
from tests.support.sharing import assign_perm
from tests.support.workflows import ACTOR, publish, start, task

# The height of letters on the screen, in pixels: their size at the graph's zoom.
LETTERS = """
(one) => parseFloat(getComputedStyle(one).fontSize) * one.getBoundingClientRect().width
  / one.offsetWidth
"""


def address_of(page: Any, execution: Any, query: str = "") -> str:
    pk = getattr(execution, "pk", execution)
    return f"{page.home}/admin/executions/workflowexecution/{pk}/change/{query}"


def sign_in(page: Any, user: Any) -> None:
    client = Client()
    client.force_login(user)
    session = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": session, "url": page.home}])


def watch(page: Any, execution: Any, query: str = "") -> None:
    """Open the page and wait until it shows the stream's first state."""
    answer = page.goto(address_of(page, execution, query))
    assert answer.status == 200
    expect(page.locator("#monitor")).to_have_attribute("data-ready", "yes")


def connection(page: Any, word: str) -> None:
    expect(page.get_by_role("status", name="Connection")).to_contain_text(word)


def row(page: Any, name: str) -> Any:
    return page.get_by_role("table", name="Runs").get_by_role("button", name=name)


def action(page: Any, name: str) -> Any:
    """Return a button in the page's header or in its menu."""
    return page.get_by_role("link", name=name, exact=True)


def details(page: Any) -> Any:
    return page.get_by_role("region", name="Details")


def run_of(execution: WorkflowExecution, path: str, attempt: int = 1) -> Run:
    return Run.objects.get(execution=execution, step_path=path, attempt=attempt)


@pytest.fixture
def order(staff_page: Any) -> WorkflowExecution:
    return monitored.order()


def test_an_execution_is_watched_while_it_runs(staff_page: Any, django_user_model: Any) -> None:
    asking = task("ask", "flow.approval", "a", **{"with": {"title": "Go on?"}})
    execution = start(publish({"name": "Two", "tasks": [task("a"), asking]}))
    watch(staff_page, execution)
    connection(staff_page, "live")
    expect(row(staff_page, "a, attempt 1, pending")).to_be_visible()
    staff_page.evaluate("window.same = true")

    held = claimed(execution, "a.main")
    expect(row(staff_page, "a, attempt 1, running")).to_be_visible()
    work = recorded(held)
    expect(row(staff_page, "a, attempt 1, succeeded")).to_be_visible()
    assert work is not None
    recorded((held[0], work))
    expect(row(staff_page, "ask, attempt 1, awaits approval")).to_be_visible()
    run = Run.objects.get(execution=execution, step_path="ask.main")
    decide(run.pk, "approved", "", user=django_user_model.objects.get(), actor=ACTOR)
    recorded(claimed(execution, run.segment))

    connection(staff_page, "finished")
    expect(row(staff_page, "ask, attempt 1, succeeded")).to_be_visible()
    expect(staff_page.locator("[data-top=state]")).to_contain_text("succeeded")
    expect(staff_page.locator("#studio-live")).to_contain_text("The execution is succeeded.")
    expect(action(staff_page, "Replay…")).to_be_visible()
    expect(staff_page.locator("#vk-facts")).to_contain_text("Finished")
    expect(staff_page.locator(f"a[href$='/{execution}/cancel/']")).to_have_count(0)
    assert staff_page.evaluate("window.same")


def test_a_paused_execution_says_so_and_goes_on(staff_page: Any) -> None:
    execution = start(publish({"name": "One", "tasks": [task("a")]}))
    watch(staff_page, execution)

    staff_page.get_by_role("link", name="Pause…").click()
    staff_page.get_by_role("dialog").get_by_role("button", name="Pause").click()
    expect(staff_page.locator("[data-top=state]")).to_contain_text("paused")
    expect(staff_page.get_by_role("link", name="Resume…")).to_be_visible()
    lifecycle.resume(execution, actor=ACTOR, reason="")

    expect(staff_page.locator("[data-top=state]")).to_contain_text("running")
    expect(staff_page.get_by_role("link", name="Pause…")).to_be_visible()


def test_what_is_asked_for_opens_though_the_page_is_renewed_meanwhile(staff_page: Any) -> None:
    execution = start(publish({"name": "One", "tasks": [task("a")]}))
    watch(staff_page, execution)
    asked = Held(staff_page, f"**/{execution}/cancel/")
    page_action(staff_page, "Cancel…").click()

    lifecycle.pause(execution, actor=ACTOR, reason="")
    expect(staff_page.locator("[data-top=state]")).to_contain_text("paused")
    asked.let_go()

    dialog = staff_page.get_by_role("dialog")
    expect(dialog.get_by_label("Reason")).to_be_focused()
    button = dialog.get_by_role("button", name="Cancel", exact=True)
    button.focus()
    expect(action(staff_page, "Resume…")).to_have_count(0)
    expect(button).to_be_focused()
    staff_page.keyboard.press("Escape")
    expect(action(staff_page, "Cancel…")).to_be_focused()
    staff_page.keyboard.press("Escape")
    expect(action(staff_page, "Resume…")).to_be_visible()


def test_the_keyboard_and_what_was_opened_stay_as_the_page_is_renewed(staff_page: Any) -> None:
    execution = start(publish({"name": "One", "tasks": [task("a")]}), {"order": 7})
    watch(staff_page, execution)
    payload = staff_page.get_by_role("region", name="Payload")
    payload.locator("summary").click()
    expect(payload.locator("details")).to_have_attribute("open", "")
    action(staff_page, "Open in studio").focus()

    lifecycle.pause(execution, actor=ACTOR, reason="")

    expect(action(staff_page, "Resume…")).to_be_visible()
    expect(action(staff_page, "Open in studio")).to_be_focused()
    expect(payload.locator("details")).to_have_attribute("open", "")
    page_action(staff_page, "Cancel…").click()
    expect(staff_page.get_by_role("dialog").get_by_label("Reason")).to_be_focused()


def test_a_dead_run_is_found_read_and_followed(staff_page: Any, order: WorkflowExecution) -> None:
    watch(staff_page, order)
    expect(staff_page.get_by_role("link", name="Dead letters (1)")).to_be_visible()

    staff_page.keyboard.press("p")
    panel = details(staff_page)
    expect(panel.get_by_role("heading", name="orders[7].pack.main")).to_be_visible()
    expect(row(staff_page, "orders[7].pack, attempt 1, dead")).to_have_attribute(
        "aria-current", "true"
    )
    dead = run_of(order, "orders[7].pack.main")
    assert f"run={dead.pk}" in staff_page.url

    staff_page.keyboard.press("4")
    expect(panel.get_by_text("Item 7 is not there: <b>bold</b>")).to_be_visible()
    expect(panel.get_by_text("File x.py")).to_be_visible()
    staff_page.keyboard.press("2")
    expect(panel.get_by_text('"password": "••••••"')).to_be_visible()
    staff_page.keyboard.press("5")
    expect(panel.get_by_text("picked")).to_be_visible()
    staff_page.keyboard.press("1")
    letter = panel.get_by_role("link", name="Resolve the dead letter")
    expect(letter).to_have_attribute("href", f"/admin/dlq/deadletterentry/?q={dead.pk}")
    copied = panel.get_by_role("button", name="Copy as JSON")
    assert json.loads(copied.get_attribute("data-copy"))["id"] == str(dead.pk)
    panel.get_by_role("link", name="Fork from here…").click()
    expect(staff_page.get_by_label("From step")).to_have_value("orders[7].pack.main")


def test_attempts_have_bars_of_their_own(staff_page: Any, order: WorkflowExecution) -> None:
    watch(staff_page, order, f"?run={run_of(order, 'reserve.main', 2).pk}")
    panel = details(staff_page)
    expect(panel.get_by_text("attempt 2 of 3")).to_be_visible()
    bars = staff_page.locator(f".vm-bars[data-run='{run_of(order, 'reserve.main', 2).pk}'] i")

    kinds = [text.split()[1] for text in bars.evaluate_all("all => all.map((i) => i.className)")]

    assert kinds == ["vm-part-backoff", "vm-part-queued", "vm-part-running"]
    name = "reserve, attempt 2, failed, 15.00 seconds, on the critical path"
    expect(row(staff_page, name)).to_have_attribute("aria-current", "true")
    panel.get_by_role("button", name="Next attempt").click()
    expect(row(staff_page, "reserve, attempt 3")).to_have_attribute("aria-current", "true")


def test_an_approval_is_led_to(staff_page: Any, order: WorkflowExecution) -> None:
    asked = run_of(order, "ask.main")
    watch(staff_page, order, f"?run={asked.pk}")

    link = details(staff_page).get_by_role("link", name="Decide on the approval")

    expect(link).to_have_attribute("href", f"/admin/runners/approval/{asked.pk}/change/")


def test_the_execution_tells_why_it_does_not_go_on(
    staff_page: Any, order: WorkflowExecution
) -> None:
    watch(staff_page, order)
    panel = details(staff_page)

    panel.get_by_role("tab", name="Why").click()
    expect(panel.get_by_text("Updated every 5 seconds.")).to_be_visible()
    panel.get_by_role("button", name="ask.main").click()
    expect(panel.get_by_role("heading", name="ask.main")).to_be_visible()
    staff_page.keyboard.press("Escape")
    panel.get_by_role("tab", name="Variables").click()
    expect(panel.get_by_text("{}")).to_be_visible()


def test_the_filters_show_what_failed_runs_or_took_longest(
    staff_page: Any, order: WorkflowExecution
) -> None:
    watch(staff_page, order)
    table = staff_page.get_by_role("table", name="Runs")

    for which, many in (("Failed", 3), ("Running", 3), ("All", 33)):
        staff_page.get_by_role("button", name=which, exact=True).click()
        expect(table).to_have_attribute("aria-rowcount", str(many + 1))
    staff_page.get_by_role("button", name="Slowest", exact=True).click()
    expect(table.locator("[data-run] .vm-step").first).not_to_have_text("validate")
    staff_page.get_by_role("button", name="All", exact=True).click()
    staff_page.get_by_role("button", name="24 runs inside orders").click()
    expect(table).to_have_attribute("aria-rowcount", "10")


def test_a_task_is_found_and_chosen_in_the_graph(staff_page: Any, order: WorkflowExecution) -> None:
    watch(staff_page, order)

    staff_page.keyboard.press("/")
    staff_page.keyboard.type("pack")
    expect(staff_page.get_by_text("1 found")).to_be_visible()
    staff_page.keyboard.press("Enter")

    expect(details(staff_page).get_by_role("heading", name="orders[7].pack.main")).to_be_visible()
    staff_page.keyboard.press("Escape")
    staff_page.keyboard.press("/")
    staff_page.keyboard.type("ship")
    staff_page.keyboard.press("Enter")
    expect(details(staff_page).get_by_text("not started")).to_be_visible()


def test_a_box_of_the_graph_can_be_clicked(staff_page: Any) -> None:
    execution = start(publish({"name": "One", "tasks": [task("only")]}))
    watch(staff_page, execution)

    staff_page.locator(".vm-graph .card").click()

    expect(details(staff_page).get_by_role("heading", name="only.main")).to_be_visible()


def test_the_timeline_is_walked_with_the_keyboard(
    staff_page: Any, order: WorkflowExecution
) -> None:
    watch(staff_page, order)
    row(staff_page, "validate, attempt 1").focus()

    staff_page.keyboard.press("ArrowDown")
    expect(row(staff_page, "reserve, attempt 1")).to_be_focused()
    staff_page.keyboard.press("End")
    expect(row(staff_page, "ask, attempt 1, awaits approval")).to_be_focused()
    staff_page.keyboard.press("Tab")
    expect(details(staff_page).get_by_role("button", name="Show the execution")).to_be_focused()
    staff_page.keyboard.press("?")
    expect(staff_page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    staff_page.keyboard.press("Escape")
    expect(staff_page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_hidden()
    staff_page.keyboard.press("l")
    follow = staff_page.get_by_role("button", name="Follow live")
    expect(follow).to_have_attribute("aria-pressed", "true")
    staff_page.keyboard.press("f")
    expect(follow).to_have_attribute("aria-pressed", "false")
    staff_page.get_by_role("tab", name="Summary").focus()
    staff_page.keyboard.press("ArrowRight")
    expect(staff_page.get_by_role("tab", name="Input")).to_be_focused()


def test_the_stream_comes_back_after_a_cut(staff_page: Any, order: WorkflowExecution) -> None:
    asked: list[str] = []

    def cut_twice(route: Any) -> None:
        asked.append(route.request.url)
        if len(asked) < 3:
            route.fulfill(status=502, body="")
        else:
            route.continue_()

    staff_page.route("**/subscribe*", cut_twice)
    staff_page.goto(address_of(staff_page, order))
    connection(staff_page, "reconnecting")
    connection(staff_page, "live")
    staff_page.get_by_role("button", name="Running", exact=True).click()
    expect(row(staff_page, "ask, attempt 1, awaits approval")).to_be_visible()

    Run.objects.filter(step_path="ask.main").update(state="PENDING")

    expect(row(staff_page, "ask, attempt 1, pending")).to_be_visible()
    assert len(asked) == 3
    _forget(staff_page, "502")


def test_who_is_signed_out_is_told_and_asked_to_sign_in(
    staff_page: Any, order: WorkflowExecution
) -> None:
    watch(staff_page, order)
    staff_page.context.clear_cookies()

    # A page that becomes visible again reopens its stream.
    staff_page.evaluate("window.dispatchEvent(new Event('pagehide'))")
    staff_page.evaluate("window.dispatchEvent(new Event('online'))")

    connection(staff_page, "signed out")
    link = staff_page.get_by_role("link", name="Sign in again")
    assert str(order.pk) in link.get_attribute("href")
    expect(row(staff_page, "validate, attempt 1")).to_be_visible()
    _forget(staff_page, "401")


def test_an_execution_that_waits_for_its_place_says_so(staff_page: Any) -> None:
    workflow = publish({"name": "One", "tasks": [task("a")]})
    execution = monitored.rows.execution(workflow, "PENDING")
    watch(staff_page, execution)

    expect(staff_page.get_by_text("Queued for")).to_be_visible()
    expect(staff_page.get_by_text("No matching runs.")).to_be_visible()


def test_without_javascript_the_facts_and_the_steps_are_there(
    browser: Any, staff_page: Any, order: WorkflowExecution
) -> None:
    context = browser.new_context(java_script_enabled=False)
    context.add_cookies(staff_page.context.cookies())
    page = context.new_page()
    page.goto(address_of(staff_page, order))

    expect(page.locator("#monitor")).to_contain_text("running")
    expect(page.locator("#monitor noscript p")).to_be_visible()
    expect(page.locator("#vm-app")).to_be_hidden()
    expect(page.get_by_role("region", name="Steps")).to_contain_text("reserve.main")
    context.close()


def test_the_page_is_accessible(staff_page: Any, order: WorkflowExecution) -> None:
    watch(staff_page, order)
    expect(row(staff_page, "orders, attempt 1, running its body")).to_be_visible()
    picture_in_both(staff_page, "execution")
    assert findings_in_both(staff_page) == []

    staff_page.keyboard.press("p")
    staff_page.keyboard.press("4")
    expect(details(staff_page).get_by_text("File x.py")).to_be_visible()
    picture_in_both(staff_page, "execution-error")
    assert findings_in_both(staff_page, "#monitor") == []


@pytest.mark.parametrize("size", [(1440, 900), (1280, 800)])
def test_the_first_screen_has_the_state_the_graph_the_timeline_and_the_data(
    staff_page: Any, order: WorkflowExecution, size: tuple[int, int]
) -> None:
    WorkflowExecution.objects.filter(pk=order.pk).update(trigger_payload={"order": 1047})
    width, height = size
    staff_page.set_viewport_size({"width": width, "height": height})
    watch(staff_page, order)
    picture_in_both(staff_page, f"execution-{width}")

    expect(staff_page.get_by_role("heading", level=1)).to_contain_text(
        "Order fulfilment · order 1047"
    )
    expect(row(staff_page, "validate, attempt 1")).to_be_in_viewport()
    expect(details(staff_page).get_by_text('"order": 1047')).to_be_in_viewport()
    for node in staff_page.locator(".vm-graph .card b").all():
        expect(node).to_be_in_viewport()
        assert node.evaluate(LETTERS) >= 10
    assert staff_page.evaluate("document.body.scrollWidth <= window.innerWidth")


def test_it_fits_a_telephone(staff_page: Any, order: WorkflowExecution) -> None:
    staff_page.set_viewport_size({"width": 390, "height": 844})
    watch(staff_page, order, f"?run={run_of(order, 'orders[7].pack.main').pk}")
    expect(details(staff_page).get_by_text("Copy as JSON")).to_be_visible()
    picture_in_both(staff_page, "execution-390")

    assert staff_page.evaluate("document.body.scrollWidth <= window.innerWidth")


def test_who_may_only_look_sees_states_and_no_data(
    staff_page: Any, order: WorkflowExecution, django_user_model: Any
) -> None:
    WorkflowExecution.objects.filter(pk=order.pk).update(trigger_payload={"order": 1047})
    eve = django_user_model.objects.create(username="eve", is_staff=True)
    Membership.objects.create(user=eve, workspace_id=order.workspace_id, role="USER")
    assign_perm("read_workflow", eve, order.workflow)
    sign_in(staff_page, eve)
    watch(staff_page, order)

    row(staff_page, "validate, attempt 1").click()
    panel = details(staff_page)
    panel.get_by_role("tab", name="Input").click()
    expect(panel.get_by_text("view_payloads")).to_be_visible()
    expect(staff_page.get_by_text("1047")).to_have_count(0)
    expect(staff_page.get_by_role("link", name="Fork from here…")).to_have_count(0)
    picture(staff_page, "execution-viewer")


def _forget(page: Any, status: str) -> None:
    """Ignore Chromium's console message about the status of a script's request."""
    page.problems[:] = [problem for problem in page.problems if status not in problem]


def test_an_execution_that_is_undone_says_so(staff_page: Any) -> None:
    undo = {"use": "flow.noop"}
    asking = task("ask", "flow.approval", "a", **{"with": {"title": "Go on?"}})
    execution = start(publish({"name": "Undone", "tasks": [task("a", undo=undo), asking]}))
    recorded(claimed(execution, "a.main"))
    watch(staff_page, execution)
    lifecycle.cancel(execution, actor=ACTOR)
    expect(staff_page.locator("[data-top=state]")).to_contain_text("undoing")

    plan_execution.advance(execution)
    expect(row(staff_page, "undo:a, attempt 1, pending")).to_be_visible()
    recorded(claimed(execution, "undo:a.main"))

    expect(staff_page.locator("[data-top=state]")).to_contain_text("cancelled, undone")
    expect(row(staff_page, "undo:a, attempt 1, succeeded")).to_be_visible()
    expect(staff_page.locator(".react-flow__node .undone")).to_contain_text("undone")
