"""Members, service accounts and tokens in the browser: forms, dialogs, and a token shown once."""

import re
from typing import Any

from playwright.sync_api import expect

from executions.models import ApiToken, Membership, ServiceAccount, Tier
from tests.browser.acting import page_action
from tests.browser.pictures import picture
from tests.support import admin_rows as rows


def test_a_token_appears_in_its_dialog_and_nowhere_else(staff_page: Any) -> None:
    rows.workspace()
    assert staff_page.goto(f"{staff_page.home}/admin/executions/apitoken/").ok
    expect(staff_page.get_by_text("No API tokens")).to_be_visible()
    picture(staff_page, "tokens-none")
    page_action(staff_page, "New token…").click()
    dialog = staff_page.get_by_role("dialog")
    expect(dialog.get_by_label("Days")).to_have_value("90")
    dialog.get_by_label("Name").fill("nightly export")
    dialog.get_by_label("trigger:").check()
    picture(staff_page, "token-asked")

    dialog.get_by_role("button", name="Create token").click()

    shown = dialog.get_by_text(re.compile("vlk_"))
    expect(shown).to_be_visible()
    expect(dialog.get_by_role("button", name="Create token")).to_have_count(0)
    picture(staff_page, "token-shown")
    text = shown.inner_text()
    dialog.get_by_role("button", name="Close").last.click()
    staff_page.reload()
    expect(staff_page.get_by_text("nightly export")).to_be_visible()
    assert text not in staff_page.content()
    picture(staff_page, "tokens")
    token = ApiToken.objects.get()
    staff_page.goto(f"{staff_page.home}/admin/executions/apitoken/{token.pk}/change/")
    expect(staff_page.get_by_text(token.prefix, exact=True)).to_be_visible()
    picture(staff_page, "token")


def test_a_program_is_added_and_given_a_token(staff_page: Any) -> None:
    rows.workspace()
    assert staff_page.goto(f"{staff_page.home}/admin/executions/serviceaccount/").ok
    picture(staff_page, "programs-none")
    assert staff_page.goto(f"{staff_page.home}/admin/executions/serviceaccount/add/").ok
    staff_page.locator("select[name=workspace]").select_option(label="default")
    staff_page.locator("input[name=name]").fill("billing")
    picture(staff_page, "program-add")
    staff_page.get_by_role("button", name="Save and continue editing").click()
    expect(staff_page.get_by_text("was added successfully")).to_be_visible()
    account = ServiceAccount.objects.get()
    picture(staff_page, "program")

    page_action(staff_page, "New token…").click()
    dialog = staff_page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("key")
    picture(staff_page, "program-token-asked")
    dialog.get_by_role("button", name="New token").click()

    expect(dialog.get_by_text(re.compile("vlk_"))).to_be_visible()
    picture(staff_page, "program-token")
    assert ApiToken.objects.get().user_id == account.user_id
    staff_page.goto(f"{staff_page.home}/admin/executions/serviceaccount/")
    picture(staff_page, "programs")


def test_a_members_permissions_are_boxes_to_tick(staff_page: Any) -> None:
    rows.people(rows.workspace(), "ada")
    row = Membership.objects.get(user__username="ada")
    assert staff_page.goto(f"{staff_page.home}/admin/executions/membership/").ok
    picture(staff_page, "members")
    assert staff_page.goto(f"{staff_page.home}/admin/executions/membership/add/").ok
    picture(staff_page, "member-add")
    address = f"{staff_page.home}/admin/executions/membership/{row.pk}/change/"
    assert staff_page.goto(address).ok
    staff_page.get_by_label("reveal:").check()
    picture(staff_page, "member")

    staff_page.get_by_role("button", name="Save", exact=True).click()

    expect(staff_page.get_by_text("changed successfully")).to_be_visible()
    row.refresh_from_db()
    assert row.permissions == ["reveal"]


def test_a_workspace_is_archived_and_restored(staff_page: Any) -> None:
    made = rows.workspace()
    address = f"{staff_page.home}/admin/executions/workspace/{made.pk}/change/"
    assert staff_page.goto(f"{staff_page.home}/admin/executions/workspace/").ok
    picture(staff_page, "workspaces")
    assert staff_page.goto(address).ok
    picture(staff_page, "workspace")
    page_action(staff_page, "Archive…").click()
    picture(staff_page, "workspace-archive")
    staff_page.get_by_role("dialog").get_by_role("button", name="Archive").click()

    expect(staff_page.get_by_text("1 archived.")).to_be_visible()
    expect(page_action(staff_page, "Restore…")).to_be_visible()
    picture(staff_page, "workspace-archived")
    Tier.objects.create(name="small", max_concurrent=5)
    assert staff_page.goto(f"{staff_page.home}/admin/executions/tier/").ok
    picture(staff_page, "tiers")
