"""Quotas in a browser: an empty list, a new quota, and its bars."""

import re
from typing import Any

from playwright.sync_api import expect

from executions.triggers.start import start_batch
from tests.browser.pictures import picture
from tests.support import admin_rows as rows
from tests.support.workflows import ACTOR, publish, task
from valkyr_plugins.limits.models import Quota

LIST = "/admin/valkyr_limits/quota/"


def test_a_quota_is_made_and_seen_filling_up(staff_page: Any, server: str) -> None:
    place = rows.workspace()
    staff_page.goto(f"{server}{LIST}")
    expect(staff_page.get_by_text("No quotas")).to_be_visible()
    picture(staff_page, "quotas-none")

    staff_page.goto(f"{server}{LIST}add/")
    staff_page.get_by_label("Workspace").select_option(label=place.name)
    staff_page.get_by_label("Max per hour").fill("10")
    picture(staff_page, "quota-add")
    staff_page.get_by_role("button", name="Save", exact=True).click()
    expect(staff_page).to_have_url(re.compile(f"{LIST}$"))
    start_batch(publish({"tasks": [task("one")]}, place), [{}] * 7, actor=ACTOR)
    staff_page.reload()
    expect(staff_page.get_by_text("7 of 10")).to_be_visible()
    picture(staff_page, "quotas")

    quota = Quota.objects.get()
    staff_page.goto(f"{server}{LIST}{quota.pk}/change/")
    expect(staff_page.get_by_text("7 of 10")).to_be_visible()
    picture(staff_page, "quota")
