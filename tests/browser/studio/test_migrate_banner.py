"""The studio shows how many live executions are on older versions, and links to their migration."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.publishing import versioning
from tests.support.workflows import ACTOR, start

pytestmark = pytest.mark.browser
WAITS = {"id": "ask", "use": "flow.approval", "with": {"title": "Go on?"}}


def test_live_executions_on_an_older_version_are_counted(studio: Any, workflow: Any) -> None:
    found = workflow(tasks=[WAITS])
    versioning.publish(found.pk, actor=ACTOR)
    found.refresh_from_db()
    start(found)
    draft = found.definition | {"tasks": [WAITS, {"id": "ship", "use": "flow.noop"}]}
    versioning.update_workflow(found.pk, {"definition": draft}, actor=ACTOR, expected_revision=None)
    versioning.publish(found.pk, actor=ACTOR)

    page = studio(found)

    banner = page.get_by_role("status").filter(has_text="1 live execution is on an older version")
    expect(banner).to_contain_text("(v1: 1)")
    banner.get_by_role("link", name="Migrate executions…").click()
    expect(page.get_by_text("From version")).to_be_visible()
