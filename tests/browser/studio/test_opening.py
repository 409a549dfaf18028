"""The studio's frame: access to it, and its first view."""

from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_the_editor_shows_the_tasks_of_a_draft(studio: Any, workflow: Any) -> None:
    tasks = [{"id": "fetch", "name": "Fetch order", "use": "data.set", "with": {"values": {}}}]
    page = studio(workflow(tasks=tasks))
    expect(page.get_by_text("Fetch order").first).to_be_visible()
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saved")


def test_who_is_not_signed_in_is_asked_to_and_comes_back(quiet_page: Any, workflow: Any) -> None:
    found = workflow()
    quiet_page.goto(f"{quiet_page.home}/studio/{found.pk}/")
    assert f"next=/studio/{found.pk}/" in quiet_page.url
