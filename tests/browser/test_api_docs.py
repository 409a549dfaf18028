"""The API's pages in a browser: users can read the document and try operations."""

from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_an_operation_shows_its_examples_and_fits_its_place(staff_page: Any) -> None:
    # The page contains only the visible operations; its address scrolls to one.
    staff_page.goto(f"{staff_page.home}/docs#/WorkflowExecution/executeWorkflow")
    operation = staff_page.locator("#operations-WorkflowExecution-executeWorkflow")
    expect(operation).to_contain_text("Accept an execution")

    expect(operation.get_by_text("Controls Accept header")).to_be_visible()
    expect(operation).to_contain_text('"triggerPayload"')
    table = operation.locator(".responses-table").bounding_box()
    place = operation.bounding_box()
    assert table["x"] + table["width"] <= place["x"] + place["width"]
