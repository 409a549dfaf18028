"""The run dialog and the run's bar in both themes: readable, and without findings of axe."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.pictures import picture_in_both
from tests.browser.studio import running as on
from tests.support.accessibility import findings_in_both

pytestmark = pytest.mark.browser


def test_running_has_no_findings_of_axe(studio: Any, workflow: Any) -> None:
    made = workflow("numbers", **on.THREE)
    page = studio(made)
    on.open_run(page)
    on.part(page, "from", "sum")
    assert findings_in_both(page) == []
    picture_in_both(page, "studio-run")
    on.part(page, "upTo", "sum")
    assert on.carry(on.start_test(page, made)) == "FAILED"
    on.run_state(page, "failed")
    expect(on.bar(page).get_by_role("combobox")).to_contain_text("failed")
    assert findings_in_both(page) == []
    picture_in_both(page, "studio-run-bar")
