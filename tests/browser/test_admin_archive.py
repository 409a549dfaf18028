"""The archive in a browser: without files, with a file, and with an archived, a restored and a
damaged execution.
"""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from dlq.retention import pruning
from executions.models import Activity, WorkflowExecution
from tests.browser.acting import page_action
from tests.browser.pictures import picture
from tests.plugins.archive.conftest import damage, files, old
from tests.support import admin_rows as rows
from tests.support.accessibility import findings
from valkyr_plugins.archive import archiving
from valkyr_plugins.archive.models import ArchiveFile

pytest.importorskip("pyarrow")
FILES = "/admin/valkyr_archive/archivefile/"
EXECUTIONS = "/admin/valkyr_archive/archivedexecution/"


@pytest.fixture
def archive(settings: Any, tmp_path: Path) -> Path:
    """Configure the archive; return its folder."""
    folder = tmp_path / "archive"
    folder.mkdir()
    settings.VALKYR = {**getattr(settings, "VALKYR", {}), "ARCHIVE": f"file://{folder}"}
    return folder


@pytest.fixture
def gone(archive: Path, staff_page: Any) -> WorkflowExecution:
    """Create an execution that exists only in the archive."""
    made = old(rows.workflow(), output={"note": "kept for years"})
    archiving.turn()
    pruning.turn()
    assert not WorkflowExecution.objects.exists()
    return made


def fits(page: Any) -> None:
    """Check that the page has no accessibility findings, and fits into wide and narrow windows."""
    assert findings(page) == []
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.set_viewport_size({"width": 1440, "height": 900})


def test_an_empty_archive_says_how_it_is_filled(staff_page: Any) -> None:
    page = staff_page

    assert page.goto(f"{page.home}{FILES}").status == 200
    expect(page.get_by_text("No files yet. With VALKYR_ARCHIVE,")).to_be_visible()
    fits(page)
    picture(page, "archive-none")
    assert page.goto(f"{page.home}{EXECUTIONS}").status == 200
    expect(page.get_by_text("No archived executions.")).to_be_visible()


def test_an_archived_execution_is_found_read_and_restored(
    staff_page: Any, gone: WorkflowExecution
) -> None:
    page = staff_page
    file = ArchiveFile.objects.get()
    assert page.goto(f"{page.home}{FILES}").status == 200
    fits(page)
    picture(page, "archive")
    page.get_by_role("link", name=str(file)).first.click()

    expect(page.get_by_role("region", name="Executions")).to_contain_text(str(gone.pk))
    fits(page)
    picture(page, "archive-file")
    page.get_by_role("link", name=str(gone.pk)).first.click()

    output = page.get_by_role("region", name="Output")
    output.get_by_text("Output").click()
    expect(output.get_by_text("kept for years")).to_be_visible()
    expect(page.get_by_role("region", name="Runs")).to_contain_text("charge.main")
    fits(page)
    picture(page, "archived-execution")
    page_action(page, "Restore…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Reason").fill("complaint 4711")
    dialog.get_by_role("button", name="Restore").click()

    expect(page).to_have_url(re.compile(f"/admin/executions/workflowexecution/{gone.pk}/"))
    assert WorkflowExecution.objects.filter(pk=gone.pk).exists()
    assert Activity.objects.filter(action="archive.restore", reason="complaint 4711").exists()


def test_the_old_address_of_an_execution_shows_its_archived_page(
    staff_page: Any, gone: WorkflowExecution
) -> None:
    page = staff_page

    page.goto(f"{page.home}/admin/executions/workflowexecution/{gone.pk}/change/")

    expect(page).to_have_url(re.compile(f"{EXECUTIONS}{gone.pk}/"))
    expect(page.locator(".vk-state", has_text="archived").first).to_be_visible()


def test_a_damaged_file_is_explained(
    staff_page: Any, gone: WorkflowExecution, archive: Path
) -> None:
    page = staff_page
    [file] = files(archive)
    damage(file)

    assert page.goto(f"{page.home}{EXECUTIONS}{gone.pk}/change/").status == 200

    expect(page.get_by_role("region", name="Error")).to_contain_text(
        "Restore the file from a backup."
    )
    expect(page.locator(".vk-state", has_text="failed").first).to_be_visible()
    fits(page)
    picture(page, "archived-execution-damaged")
