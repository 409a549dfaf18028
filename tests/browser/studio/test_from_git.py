"""A workflow from Git in the studio: its commit, and no publishing where only Git publishes."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.bundles.applying import BundleSource, apply
from executions.bundles.planning import Bundle
from executions.models import Workflow, Workspace
from tests.browser.studio import running as on
from tests.support.accessibility import findings_in_both
from tests.support.workflows import ACTOR, default_workspace

pytestmark = pytest.mark.browser


@pytest.fixture
def applied(transactional_db: None) -> Workflow:
    """Create a workflow from a bundle."""
    document = {"schema": "valkyr/1", "name": "Fulfil", **on.THREE}
    source = BundleSource("https://git.example/shop", "abc1234def", "main")
    apply(default_workspace(), Bundle({"fulfil": document}), ACTOR, source=source)
    return Workflow.objects.get(slug="fulfil")


def test_the_commit_is_shown_and_a_lock_disables_publishing(studio: Any, applied: Workflow) -> None:
    Workspace.objects.filter(pk=applied.workspace_id).update(publish_from_git=True)

    page = studio(applied)

    banner = page.get_by_role("region", name="From Git")
    expect(banner).to_contain_text("Managed from Git, commit abc1234.")
    expect(banner).to_contain_text("publishes from Git only")
    button = page.get_by_role("button", name="Publish…", exact=True)
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("button", name="Save", exact=True)).not_to_have_attribute(
        "aria-disabled", "true"
    )
    assert findings_in_both(page) == []


def test_without_a_lock_publishing_warns_of_the_next_apply(studio: Any, applied: Workflow) -> None:
    page = studio(applied)

    expect(page.get_by_role("region", name="From Git")).to_contain_text("The next “valkyr apply”")
    button = page.get_by_role("button", name="Publish…", exact=True)
    expect(button).not_to_have_attribute("aria-disabled", "true")
