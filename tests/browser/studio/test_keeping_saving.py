"""Nothing is lost or overwritten: two editors, reloads, signing out, no network."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from playwright.sync_api import Browser, expect

from executions.models import Workflow
from tests.browser.holding import Held
from tests.browser.one_page import OnePage

pytestmark = pytest.mark.browser

TASKS = [{"id": "fetch", "name": "Fetch order", "use": "data.set", "with": {"values": {}}}]


def rename(page: Any, name: str) -> None:
    """Rename the workflow, which is the smallest change of a document."""
    field = page.get_by_role("textbox", name="Name of the workflow")
    field.fill(name)
    field.press("Enter")


def name_of(page: Any) -> Any:
    return page.get_by_role("textbox", name="Name of the workflow")


def save(page: Any) -> None:
    page.keyboard.press("Control+s")


def draft_is(page: Any, state: str) -> None:
    expect(page.get_by_role("status", name="Draft")).to_contain_text(state)


def expected_noise(page: Any, *parts: str) -> None:
    """Ignore console messages that Chromium itself writes about failed requests."""
    page.problems[:] = [one for one in page.problems if not any(part in one for part in parts)]


@pytest.fixture(scope="package")
def elsewhere(server: str, browser: Browser) -> Iterator[OnePage]:
    """Yield a separate browser, which shares no storage with the tests' page."""
    lender = OnePage(browser, server)
    yield lender
    lender.close()


@pytest.fixture
def second(staff_page: Any, elsewhere: OnePage) -> Iterator[Callable[[Workflow], Any]]:
    """Yield a function that opens the same workflow in another browser, signed in as the same
    user.
    """
    with elsewhere.lent() as page:

        def opened(of: Workflow) -> Any:
            page.context.add_cookies(staff_page.context.cookies())
            page.goto(f"{staff_page.home}/studio/{of.pk}/")
            expect(page.get_by_role("region", name="Canvas", exact=True)).to_be_visible()
            return page

        yield opened


@pytest.fixture
def in_conflict(studio: Any, workflow: Any, second: Any) -> tuple[Any, Workflow]:
    """Return a page whose workflow another user saved first, with the dialog about it."""
    found = workflow(tasks=TASKS)
    page, other = studio(found), second(found)
    rename(other, "theirs")
    save(other)
    draft_is(other, "saved")
    rename(page, "mine")
    save(page)
    dialog = page.get_by_role("dialog", name="Another user changed this draft")
    expect(dialog).to_contain_text("op saved this draft at")
    expected_noise(page, "412")
    found.refresh_from_db()
    assert found.name == "theirs"
    return page, found


def test_a_name_is_saved_with_the_draft(studio: Any, workflow: Any) -> None:
    found = workflow(tasks=TASKS)
    page = studio(found)
    name_of(page).fill("  order fulfilment ")
    draft_is(page, "unsaved")
    save(page)
    expect(page.get_by_role("status", name="Draft")).not_to_contain_text("unsaved")
    draft_is(page, "saved")
    found.refresh_from_db()
    assert (found.name, found.definition["name"]) == ("order fulfilment", "order fulfilment")


def test_two_editors_are_shown_what_differs_before_one_may_overwrite(in_conflict: Any) -> None:
    page, found = in_conflict
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Compare").click()
    row = dialog.get_by_role("row", name="name theirs mine")
    expect(row).to_be_visible()
    overwrite = dialog.get_by_role("button", name="Overwrite saved draft")
    expect(overwrite).to_have_attribute("aria-disabled", "true")
    dialog.get_by_label("I have reviewed the changes that would be lost").check()
    overwrite.click()
    expect(dialog).to_be_hidden()
    draft_is(page, "saved")
    found.refresh_from_db()
    assert found.name == "mine"


def test_reloading_theirs_keeps_mine_one_undo_away(in_conflict: Any) -> None:
    page, _ = in_conflict
    page.get_by_role("button", name="Load saved draft").click()
    expect(name_of(page)).to_have_value("theirs")
    draft_is(page, "saved")
    page.get_by_role("button", name="Undo").click()
    expect(name_of(page)).to_have_value("mine")
    draft_is(page, "unsaved")


def test_mine_can_be_saved_as_a_copy(in_conflict: Any) -> None:
    page, found = in_conflict
    page.get_by_role("button", name="Save your draft as a copy").click()
    expect(name_of(page)).to_have_value("mine (copy)")
    assert str(found.pk) not in page.url
    assert Workflow.objects.filter(name="mine (copy)").exists()


def test_a_second_press_makes_no_second_copy(in_conflict: Any) -> None:
    page, _ = in_conflict
    making = Held(page, "**/v1/Workflow", "POST")

    with page.expect_request(making.asks):
        page.get_by_role("button", name="Save your draft as a copy").dblclick()
    page.evaluate("fetch(location.href)")  # the second press's request has arrived by then

    assert len(making.routes) == 1
    making.let_go()
    expect(name_of(page)).to_have_value("mine (copy)")
    assert Workflow.objects.filter(name__startswith="mine").count() == 1


def test_unsaved_work_is_there_again_after_a_reload(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=TASKS))
    rename(page, "half done")
    page.reload()
    expect(name_of(page)).to_have_value("half done")
    draft_is(page, "unsaved")
    expect(page.get_by_text("were restored")).to_be_visible()
    page.get_by_role("button", name="Discard changes").click()
    expect(name_of(page)).to_have_value("order")
    expect(page.get_by_text("were restored")).to_be_hidden()
    page.reload()
    expect(name_of(page)).to_have_value("order")


def test_restored_work_on_an_older_draft_is_a_conflict(
    studio: Any, workflow: Any, second: Any
) -> None:
    found = workflow(tasks=TASKS)
    page = studio(found)
    rename(page, "half done")
    other = second(found)
    rename(other, "theirs")
    save(other)
    draft_is(other, "saved")
    page.reload()
    expect(page.get_by_role("dialog", name="Another user changed this draft")).to_be_visible()
    expect(name_of(page)).to_have_value("half done")


def _checks(answer: Any, name: str) -> bool:
    """Return whether a response has the problems of a draft with this name."""
    return answer.url.endswith("/validate") and name in (answer.request.post_data or "")


def test_signing_out_in_the_middle_loses_nothing(
    studio: Any, workflow: Any, django_user_model: Any
) -> None:
    found = workflow(tasks=TASKS)
    page = studio(found)
    # Automatic requests must not be rejected as well after the draft is saved again.
    with page.expect_response(lambda answer: _checks(answer, "while signed out")):
        rename(page, "while signed out")
    Session.objects.all().delete()
    save(page)
    draft_is(page, "signed out")
    expect(page.get_by_role("link", name="sign in in a new tab")).to_be_visible()
    client = Client()
    client.force_login(django_user_model.objects.get(username="op"))
    value = client.cookies["sessionid"].value
    page.context.add_cookies([{"name": "sessionid", "value": value, "url": page.home}])
    page.evaluate("dispatchEvent(new Event('focus'))")
    draft_is(page, "saved")
    expected_noise(page, "401")
    found.refresh_from_db()
    assert found.name == "while signed out"


def test_a_server_that_cannot_be_reached_is_saved_to_once_it_is_back(
    studio: Any, workflow: Any
) -> None:
    found = workflow(tasks=TASKS)
    page = studio(found)
    page.context.set_offline(True)
    rename(page, "on the train")
    save(page)
    draft_is(page, "unreachable")
    page.context.set_offline(False)
    draft_is(page, "saved")
    expected_noise(page, "ERR_INTERNET_DISCONNECTED")
    found.refresh_from_db()
    assert found.name == "on the train"
