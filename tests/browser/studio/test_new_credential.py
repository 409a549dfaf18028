"""A credential created next to the task's field that needs it."""

from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import expect

from executions.models import Credential, Membership
from tests.browser.studio import running as on
from tests.browser.studio.inspecting import field, saved, select, task
from tests.browser.studio.looking import look

pytestmark = pytest.mark.browser

FETCH = {
    "id": "fetch",
    "use": "http.request",
    "with": {"url": "https://api.example.com/orders"},
    "ui": {"x": 0, "y": 0},
}
SECRET = "correct-horse-battery"


def open_dialog(page: Any) -> Any:
    """Open the dialog for a new credential of the only task, and return it."""
    details = select(page, "fetch")
    details.get_by_role("tab", name="Settings").click()
    details.get_by_role("button", name="New credential…").click()
    return page.get_by_role("dialog", name="New credential")


def test_a_credential_is_made_beside_its_field_and_selected(studio: Any, workflow: Any) -> None:
    stored = workflow(tasks=[FETCH])
    page = studio(stored)
    dialog = open_dialog(page)
    expect(dialog.get_by_label("Name", exact=True)).to_be_focused()
    expect(dialog.get_by_label("Hosts")).to_have_value("api.example.com")
    dialog.get_by_label("Type").select_option("basic")
    dialog.get_by_label("Name", exact=True).fill("shop")
    dialog.get_by_label("username").fill("ada")
    expect(dialog.get_by_label("password")).to_have_attribute("type", "password")
    dialog.get_by_label("password").fill(SECRET)
    look(page, "studio-new-credential")
    with page.expect_response("**/v1/Credential") as made:
        dialog.get_by_role("button", name="Create credential").click()
    assert SECRET not in made.value.text()
    expect(dialog).to_be_hidden()
    expect(field(page, "credential").locator("option:checked")).to_have_text("shop")
    assert task(saved(page, stored), "fetch")["credential"] == "shop"
    row = Credential.objects.get(name="shop")
    assert (row.type, row.fields, row.hosts) == (
        "basic",
        ["password", "username"],
        ["api.example.com"],
    )
    assert SECRET not in page.content()


def test_what_is_wrong_is_said_at_its_field_and_what_was_typed_stays(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow(tasks=[FETCH]))
    dialog = open_dialog(page)
    dialog.get_by_label("Type").select_option("bearer")
    dialog.get_by_label("Name", exact=True).fill("My shop")
    dialog.get_by_label("token").fill("short")
    dialog.get_by_label("token").press("Enter")
    expect(dialog.get_by_role("alert")).to_contain_text("2 problems")
    expect(dialog).to_contain_text("Expected at least 6 characters; found 5.")
    expect(dialog.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(dialog.get_by_label("token")).to_have_value("short")
    on.refused(page, 422)
    assert not Credential.objects.exists()
    dialog.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("button", name="New credential…")).to_be_focused()


def test_who_may_not_make_credentials_is_told_so(
    quiet_page: Any, studio: Any, workflow: Any, django_user_model: Any
) -> None:
    stored = workflow(tasks=[FETCH])
    author = django_user_model.objects.create(username="ada", is_staff=True)
    Membership.objects.create(user=author, workspace=stored.workspace, role="WORKFLOW")
    client = Client()
    client.force_login(author)
    cookie = {"name": "sessionid", "value": client.cookies["sessionid"].value}
    quiet_page.context.add_cookies([cookie | {"url": quiet_page.home}])
    page = studio(stored)
    details = select(page, "fetch")
    details.get_by_role("tab", name="Settings").click()
    button = details.get_by_role("button", name="New credential…")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_attribute("title", "Your role does not allow you to create credentials.")


def test_types_that_give_any_values_are_offered_after_those_that_the_module_names(
    studio: Any, workflow: Any
) -> None:
    stored = workflow(tasks=[FETCH])
    page = studio(stored)
    dialog = open_dialog(page)
    offered = dialog.get_by_label("Type").locator("option")
    assert [one.get_attribute("value") for one in offered.all()] == [
        *("basic", "bearer", "custom", "vault", "oauth2")
    ]
    dialog.get_by_label("Type").select_option("oauth2")
    dialog.get_by_label("Name", exact=True).fill("crm")
    for name, value in (
        ("token_url", "https://id.example.com/oauth2/token"),
        ("client_id", "valkyr"),
        ("client_secret", SECRET),
    ):
        dialog.get_by_label(name).fill(value)
    dialog.get_by_role("button", name="Create credential").click()

    expect(dialog).to_be_hidden()
    expect(field(page, "credential").locator("option:checked")).to_have_text("crm")
    assert task(saved(page, stored), "fetch")["credential"] == "crm"
    assert Credential.objects.get(name="crm").type == "oauth2"
