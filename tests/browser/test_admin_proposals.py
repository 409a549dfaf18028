"""An agent's proposal, reviewed and approved by clicks."""

from typing import Any

from django.contrib.auth import get_user_model
from playwright.sync_api import expect

from executions.access.actor import Actor
from tests.browser.acting import page_action
from tests.browser.pictures import picture
from tests.support import admin_rows as rows
from tests.support.accessibility import findings
from valkyr_plugins.mcp import proposals
from valkyr_plugins.mcp.in_process import InProcessApi
from valkyr_plugins.mcp.models import ProposalKind
from valkyr_plugins.redrive.models import Redrive


def test_a_proposal_is_previewed_and_approved(staff_page: Any) -> None:
    page = staff_page
    letter = rows.failed_order(rows.workflow())
    op: Any = get_user_model().objects.get(username="op")
    made = proposals.propose(
        InProcessApi(op, None, Actor.of(op, "api token repair agent")),
        ProposalKind.REDRIVE,
        {"groupId": str(letter.group_id), "overrides": {"url": "http://new.test"}, "canary": 10},
        "The partner has moved to another host.",
    )
    assert page.goto(f"{page.home}/admin/valkyr_mcp/proposal/").status == 200
    page.get_by_role("link", name=made.title[:20]).first.click()

    expect(page.get_by_role("region", name="Preview")).to_contain_text("http://new.test")
    assert findings(page) == []
    picture(page, "proposal")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1440, "height": 900})
    page_action(page, "Approve…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("The new host answers.")
    dialog.get_by_role("button", name="Approve").click()

    expect(page.get_by_text("1 approved and applied.")).to_be_visible()
    assert Redrive.objects.get().state == "RUNNING"
    expect(page.get_by_role("region", name="Result")).to_contain_text(str(Redrive.objects.get().pk))
