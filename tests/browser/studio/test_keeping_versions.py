"""From draft to version and back: the changes on publishing, and each version's content."""

from typing import Any

import pytest
from playwright.sync_api import expect

from executions.definition.graph.resolve import checksum
from executions.models import Workflow, WorkflowVersion
from executions.publishing import versioning
from tests.browser.holding import Held
from tests.browser.pictures import picture
from tests.support.workflows import ACTOR
from valkyr_plugins.canary.models import VersionRollback

pytestmark = pytest.mark.browser


def task(value: int) -> dict[str, Any]:
    return {
        "id": "fetch",
        "name": "Fetch order",
        "use": "data.set",
        "with": {"values": {"limit": value}},
    }


@pytest.fixture
def published(workflow: Any) -> Workflow:
    """Publish version 1 with a limit of 1; the draft has a limit of 2, and one more task."""
    found: Workflow = workflow(tasks=[task(1)])
    versioning.publish(found.pk, actor=ACTOR)
    draft = found.definition | {"tasks": [task(2), {"id": "ship", "use": "flow.noop"}]}
    return versioning.update_workflow(
        found.pk, {"definition": draft}, actor=ACTOR, expected_revision=None
    )


def test_publishing_shows_what_changes_and_makes_a_version(studio: Any, published: Any) -> None:
    page = studio(published)
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    expect(dialog.get_by_role("row", name="with.values.limit 1 2")).to_be_visible()
    expect(dialog.get_by_text("Task added")).to_be_visible()
    dialog.get_by_role("button", name="Text", exact=True).click()
    expect(dialog.get_by_label("Differences as text")).to_contain_text("limit: 2")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog.get_by_text("Published version 2")).to_be_visible()
    assert WorkflowVersion.objects.filter(workflow=published).count() == 2
    dialog.get_by_role("button", name="See all versions").click()
    versions = page.get_by_role("dialog", name="Versions")
    expect(versions.get_by_role("button", name="Version 2")).to_contain_text("op")


def test_unsaved_changes_are_saved_before_they_are_published(studio: Any, workflow: Any) -> None:
    found = workflow(tasks=[task(1)])
    page = studio(found)
    page.get_by_role("textbox", name="Name of the workflow").fill("renamed")
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    expect(dialog.get_by_text("the first version")).to_be_visible()
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog.get_by_text("Published version 1")).to_be_visible()
    assert WorkflowVersion.objects.get(workflow=found).source["name"] == "renamed"


def test_what_is_typed_while_the_draft_is_saved_is_published_too(
    studio: Any, workflow: Any
) -> None:
    found = workflow(tasks=[task(1)])
    page = studio(found)
    name = page.get_by_role("textbox", name="Name of the workflow")
    saving = Held(page, f"**/v1/Workflow/{found.pk}", "PATCH")
    name.fill("first")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saving")
    name.fill("second")
    page.get_by_role("button", name="Publish…").click()

    saving.let_go()

    dialog = page.get_by_role("dialog", name="Publish")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog.get_by_text("Published version 1")).to_be_visible()
    assert WorkflowVersion.objects.get(workflow=found).source["name"] == "second"


def test_problems_keep_a_draft_from_being_published_and_lead_to_the_field(
    studio: Any, workflow: Any
) -> None:
    page = studio(workflow(tasks=[{"id": "ask", "use": "http.request", "with": {}}]))
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    problem = dialog.get_by_role("button", name="with.url")
    expect(problem).to_be_visible()
    button = dialog.get_by_role("button", name="Publish", exact=True)
    expect(button).to_have_attribute("aria-disabled", "true")
    problem.click()
    expect(dialog).to_be_hidden()


def test_what_is_as_it_was_published_needs_no_version(studio: Any, workflow: Any) -> None:
    found = workflow(tasks=[task(1)])
    versioning.publish(found.pk, actor=ACTOR)
    page = studio(found)
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    button = dialog.get_by_role("button", name="Publish", exact=True)
    expect(button).to_have_attribute("title", "No changes since version 1.")
    expect(dialog.get_by_text("except possibly in positions, notes")).to_be_visible()


def test_what_modules_say_anew_can_be_published_though_the_document_is_the_same(
    studio: Any, workflow: Any
) -> None:
    found = workflow(tasks=[task(1)])
    version = versioning.publish(found.pk, actor=ACTOR)
    older = version.definition | {"settings": version.definition["settings"] | {"priority": 1}}
    WorkflowVersion.objects.filter(pk=version.pk).update(definition=older, checksum=checksum(older))
    page = studio(found)
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    expect(dialog.get_by_text("The modules' properties")).to_be_visible()
    picture(page, "studio-publish-facts")

    dialog.get_by_role("button", name="Publish", exact=True).click()

    expect(dialog.get_by_text("Published version 2")).to_be_visible()


def test_a_version_is_compared_with_the_draft_and_restored(studio: Any, published: Any) -> None:
    page = studio(published)
    page.get_by_role("button", name="Versions").click()
    dialog = page.get_by_role("dialog", name="Versions")
    expect(dialog.get_by_role("row", name="with.values.limit 1 2")).to_be_visible()
    dialog.get_by_role("button", name="Restore as draft").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("status", name="Draft")).to_contain_text("unsaved")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saved")
    published.refresh_from_db()
    [restored] = published.definition["tasks"]
    assert restored["with"] == {"values": {"limit": 1}}
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status", name="Draft")).to_contain_text("unsaved")


def test_a_version_can_be_kept_as_a_file(studio: Any, published: Any) -> None:
    page = studio(published)
    page.get_by_role("button", name="Versions").click()
    dialog = page.get_by_role("dialog", name="Versions")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Download as YAML").click()
    assert download.value.suggested_filename == "order-version-1.yaml"
    assert "limit: 1" in download.value.path().read_text()


def published_banner(page: Any) -> Any:
    return page.get_by_role("status").filter(has=page.get_by_role("button", name="Hide this note"))


def publish_draft(page: Any) -> None:
    page.get_by_role("button", name="Publish…").click()
    dialog = page.get_by_role("dialog", name="Publish")
    dialog.get_by_role("button", name="Publish", exact=True).click()
    expect(dialog.get_by_text("Published version 2")).to_be_visible()
    dialog.get_by_role("contentinfo").get_by_role("button", name="Close").click()


def test_publishing_is_undone_and_the_draft_stays(studio: Any, published: Any) -> None:
    page = studio(published)
    draft = Workflow.objects.get(pk=published.pk).definition
    publish_draft(page)
    note = published_banner(page)
    expect(note).to_contain_text("Published version 2")
    picture(page, "studio-published")
    note.get_by_role("button", name="Undo publishing").click()
    expect(note).to_contain_text("Version 2 is rolled back; version 1 runs again.")
    found = Workflow.objects.get(pk=published.pk)
    assert found.latest_version is not None
    assert found.latest_version.number == 1
    assert VersionRollback.objects.get().bad.number == 2
    assert found.definition == draft
    expect(page.get_by_role("status", name="Draft")).to_contain_text("saved")
    note.get_by_role("button", name="Hide this note").click()
    expect(published_banner(page)).to_have_count(0)


def test_what_somebody_published_since_is_not_undone(studio: Any, published: Any) -> None:
    page = studio(published)
    publish_draft(page)
    changed = published.definition | {"tasks": [task(9)]}
    versioning.update_workflow(
        published.pk, {"definition": changed}, actor=ACTOR, expected_revision=None
    )
    versioning.publish(published.pk, actor=ACTOR)
    note = published_banner(page)
    note.get_by_role("button", name="Undo publishing").click()
    expect(note.get_by_role("alert")).to_contain_text("The latest version is now version 3.")
    assert WorkflowVersion.objects.filter(workflow=published).count() == 3


def test_a_first_version_has_nothing_to_go_back_to(studio: Any, workflow: Any) -> None:
    page = studio(workflow(tasks=[task(1)]))
    page.get_by_role("button", name="Publish…").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish", exact=True).click()
    expect(published_banner(page)).to_contain_text("Published version 1")
    expect(published_banner(page).get_by_role("button", name="Undo publishing")).to_have_count(0)
