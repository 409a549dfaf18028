"""In the browser, a webhook's secret is shown once, and only in its dialog."""

from typing import Any

from playwright.sync_api import expect

from executions.models import Trigger
from executions.triggers.webhook import secret_of
from tests.browser.acting import page_action
from tests.support import admin_rows as rows


def test_a_new_secret_appears_in_the_dialog_and_is_made_once(staff_page: Any) -> None:
    hook = Trigger.objects.create(
        workflow=rows.workflow(), type="WEBHOOK", settings={"auth": "hmac", "respond": "accepted"}
    )
    assert staff_page.goto(f"{staff_page.home}/admin/executions/trigger/{hook.pk}/change/").ok
    expect(staff_page.get_by_text(f"/v1/hooks/{hook.pk}")).to_be_visible()

    page_action(staff_page, "Rotate secret…").click()
    dialog = staff_page.get_by_role("dialog")
    dialog.get_by_role("button", name="Rotate secret").click()

    expect(dialog.get_by_text(secret_of(hook.pk, 2))).to_be_visible()
    expect(dialog.get_by_role("button", name="Rotate secret")).to_have_count(0)
    dialog.get_by_role("button", name="Close").last.click()
    staff_page.reload()
    expect(staff_page.get_by_text(secret_of(hook.pk, 2))).to_have_count(0)
    hook.refresh_from_db()
    assert hook.secret_version == 2
