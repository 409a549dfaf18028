"""The side bar, the tabs over related lists, and the page *Administration*.

`.ci/test` also runs these tests with every plugin left out.
"""

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.test import Client

from executions.database.routing import is_ours
from executions.models import Membership, Workflow
from tests.support import admin_rows as rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]

ADMINISTRATION = "/admin/auth/user/administration/"


@pytest.fixture
def workflow() -> Workflow:
    return rows.workflow()


@pytest.fixture
def op(django_user_model: Any) -> Client:
    client = Client()
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def _member(django_user_model: Any, of: Workflow, role: str) -> Client:
    user = django_user_model.objects.create_user(role.lower(), is_staff=True)
    Membership.objects.create(user=user, workspace=of.workspace, role=role)
    client = Client()
    client.force_login(user)
    return client


def _entries(client: Client, address: str = "/admin/") -> dict[str, bool]:
    """Return the titles in the side bar, and whether each is marked as the current one."""
    page = client.get(address).content.decode()
    bar = page.partition('id="nav-sidebar-apps"')[2].partition('id="main"')[0]
    found = re.findall(r'<a href="[^"]*" class="flex h-\[38px\]([^"]*)">(.*?)</a>', bar, re.DOTALL)
    return {
        re.findall(r"<span>(.*?)</span>", inner, re.DOTALL)[0]: " active" in classes
        for classes, inner in found
    }


def test_an_administrator_sees_at_most_ten_entries(op: Client) -> None:
    assert list(_entries(op)) == [
        "Home",
        "Executions",
        "Failures",
        "Approvals",
        "Schedules",
        "Workflows",
        "Studio",
        "Credentials",
        "Administration",
    ]


def test_a_member_sees_only_what_the_role_may_use(
    django_user_model: Any, workflow: Workflow
) -> None:
    plain = _entries(_member(django_user_model, workflow, "USER"))

    assert "Credentials" not in plain
    assert "Executions" not in plain
    assert len(plain) <= 5


@pytest.mark.parametrize(
    ("address", "entry"),
    [
        ("/admin/", "Home"),
        ("/admin/executions/workflowexecution/", "Executions"),
        ("/admin/runners/run/", "Executions"),
        ("/admin/dlq/deadletterentry/", "Failures"),
        ("/admin/executions/crontick/", "Schedules"),
        ("/admin/executions/trigger/?type__exact=CRON", "Schedules"),
        ("/admin/django_celery_beat/periodictask/", "Schedules"),
        (ADMINISTRATION, "Administration"),
        ("/admin/executions/workspace/", "Administration"),
        ("/admin/auth/user/", "Administration"),
    ],
)
def test_one_entry_is_marked_as_the_current_one(op: Client, address: str, entry: str) -> None:
    entries = _entries(op, address)

    assert [title for title, current in entries.items() if current] == [entry]


def test_related_lists_share_tabs(op: Client) -> None:
    executions = op.get("/admin/executions/workflowexecution/").content.decode()
    letters = op.get("/admin/dlq/deadletterentry/").content.decode()

    assert 'href="/admin/runners/run/"' in executions
    assert 'href="/admin/dlq/failuregroup/"' in letters


def test_every_list_of_ours_is_reached_from_the_side_bar_its_tabs_or_a_card(op: Client) -> None:
    linked = op.get(ADMINISTRATION).content.decode()
    for address in (
        "executions/workflowexecution", "dlq/failuregroup", "executions/crontick",
        "runners/approval",
    ):  # fmt: skip
        linked += op.get(f"/admin/{address}/").content.decode()

    ours = filter(is_ours, filter(admin.site.is_registered, apps.get_models()))
    lists = {f"/admin/{each._meta.app_label}/{each._meta.model_name}/" for each in ours}
    # Versions and drafts belong to a workflow's page.
    missing = {each for each in lists if f'href="{each}"' not in linked}
    assert missing <= {"/admin/executions/workflowversion/"}


def test_the_page_of_the_rest_shows_what_the_user_may_open(
    op: Client, django_user_model: Any, workflow: Workflow
) -> None:
    everything = op.get(ADMINISTRATION).content.decode()
    editor = _member(django_user_model, workflow, "WORKFLOW").get(ADMINISTRATION)

    assert 'href="/admin/auth/user/"' in everything
    assert 'href="/admin/auth/user/"' not in editor.content.decode()


def test_the_page_of_the_rest_needs_a_sign_in() -> None:
    answer = Client().get(ADMINISTRATION)

    assert answer.status_code == 302
    assert "/login/" in answer.headers["Location"]


def test_an_empty_list_says_what_its_rows_are_and_where_to_begin(admin_client: Client) -> None:
    page = admin_client.get("/admin/executions/trigger/", {"type__exact": "CRON"}).content.decode()

    assert "A trigger starts a workflow" in page
    assert 'href="/studio/">Add a trigger in the studio' in page
    assert "No results." not in page


def test_an_empty_result_of_a_filter_says_so(admin_client: Client) -> None:
    page = admin_client.get("/admin/executions/trigger/", {"type__exact": "EVENT"}).content.decode()

    assert "No results." in page
    assert "A trigger starts a workflow" not in page
