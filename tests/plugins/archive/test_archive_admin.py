"""Tests of the archive's pages: the workspaces that see them, and their audit entries."""

from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.urls import reverse

from dlq.retention import pruning
from executions.models import Activity, Membership, Workflow, WorkflowExecution
from tests.plugins.archive.conftest import old
from tests.support import admin_rows
from valkyr_plugins.archive import archiving
from valkyr_plugins.archive.models import ArchiveFile

pytest.importorskip("pyarrow")
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
FILES = "/admin/valkyr_archive/archivefile/"
EXECUTIONS = "/admin/valkyr_archive/archivedexecution/"


def member(of: Workflow | None, role: str = "WORKFLOW") -> Client:
    """Return the browser of a new member of the workflow's workspace, or of no workspace."""
    user = get_user_model().objects.create(username=f"member-{of and of.pk}", is_staff=True)
    if of is not None:
        Membership.objects.create(user=user, workspace_id=of.workspace_id, role=role)
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def gone(archive: Path, orders: Workflow) -> WorkflowExecution:
    """Create an execution that is only in the archive."""
    made = old(orders, output={"sum": 7, "note": "kept for years"})
    archiving.turn()
    pruning.turn()
    return made


def test_a_member_opens_the_file_and_the_execution(
    gone: WorkflowExecution, orders: Workflow
) -> None:
    client = member(orders)
    file = ArchiveFile.objects.get()

    assert str(file) in client.get(FILES).content.decode()
    page = client.get(f"{FILES}{file.pk}/change/").content.decode()
    assert f"{EXECUTIONS}{gone.pk}/change/" in page
    found = client.get(EXECUTIONS, {"q": str(gone.pk)}).content.decode()
    assert str(gone.pk) in found
    shown = client.get(f"{EXECUTIONS}{gone.pk}/change/").content.decode()

    assert "kept for years" in shown
    assert "charge.main" in shown
    assert "hunter2" not in shown
    assert Activity.objects.filter(action="archive.open", object_id=str(gone.pk)).count() == 1


def test_a_lost_file_is_explained(gone: WorkflowExecution, orders: Workflow, archive: Path) -> None:
    (archive / ArchiveFile.objects.get().name).unlink()

    shown = member(orders).get(f"{EXECUTIONS}{gone.pk}/change/")

    assert shown.status_code == 200
    assert "Restore it from a backup" in shown.content.decode()


def test_others_see_none_of_it(gone: WorkflowExecution, orders: Workflow) -> None:
    client = member(None)

    assert client.get(FILES).status_code == 403
    assert client.get(f"{EXECUTIONS}{gone.pk}/change/").status_code in (302, 403)
    assert not Activity.objects.filter(action="archive.open").exists()


def test_it_is_restored_from_its_page(gone: WorkflowExecution, orders: Workflow) -> None:
    client = member(orders)
    address = reverse("admin:valkyr_archive_archivedexecution_operate_restore", args=[gone.pk])

    done = client.post(address, {"_form_submitted": "True", "reason": "asked"})

    assert done.status_code == 302, done.content
    assert str(gone.pk) in done["Location"]
    assert WorkflowExecution.objects.filter(pk=gone.pk).exists()
    assert Activity.objects.filter(action="archive.restore", reason="asked").exists()


def test_the_old_address_of_an_execution_leads_to_the_archive(
    gone: WorkflowExecution, orders: Workflow
) -> None:
    old_address = reverse("admin:executions_workflowexecution_change", args=[gone.pk])
    unknown = reverse("admin:executions_workflowexecution_change", args=[orders.pk])
    other = admin_rows.workflow(owner=admin_rows.workspace("rival"))
    client = member(orders)

    assert client.get(old_address)["Location"] == f"{EXECUTIONS}{gone.pk}/change/"
    assert "archive" not in client.get(unknown)["Location"]
    assert "archive" not in member(other).get(old_address)["Location"]
