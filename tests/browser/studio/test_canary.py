"""A canary in the studio: published by the dialog, ended from the banner."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.models import Workflow
from executions.publishing import versioning
from tests.support.workflows import ACTOR
from valkyr_plugins.canary.models import Canary

pytestmark = pytest.mark.browser
TASK = {"id": "fetch", "use": "flow.noop"}


@pytest.fixture
def changed(workflow: Any) -> Workflow:
    """Publish version 1, and add one more task to the draft."""
    found: Workflow = workflow(tasks=[TASK])
    versioning.publish(found.pk, actor=ACTOR)
    draft = found.definition | {"tasks": [TASK, {"id": "ship", "use": "flow.noop"}]}
    return versioning.update_workflow(
        found.pk, {"definition": draft}, actor=ACTOR, expected_revision=None
    )


def test_a_share_takes_the_version_until_it_is_promoted(studio: Any, changed: Workflow) -> None:
    page = studio(changed)
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    dialog.get_by_role("checkbox", name="Publish as a canary").check()
    share = dialog.get_by_role("spinbutton", name="Share of new executions")
    share.fill("0")
    publish = dialog.get_by_role("button", name="Publish", exact=True)
    expect(publish).to_have_attribute("aria-disabled", "true")
    share.fill("25")
    publish.click()
    expect(dialog.get_by_text("25 % of new executions use it")).to_be_visible()
    dialog.get_by_role("button", name="Close").last.click()
    banner = page.get_by_role("status").filter(has_text="Version 2 is a canary")
    expect(banner).to_be_visible()
    assert Canary.objects.get(workflow=changed).percent == 25

    # The page knows it when it is opened again, too.
    page.reload()
    expect(banner).to_be_visible()
    banner.get_by_role("button", name="Promote canary").click()

    expect(banner).to_be_hidden()
    changed.refresh_from_db()
    assert changed.latest_version is not None
    assert (changed.latest_version.number, changed.canary_version_id) == (2, None)
