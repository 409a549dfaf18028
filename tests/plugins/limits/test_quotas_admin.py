"""Tests of quotas in the admin: permissions, the list's contents, rejected input."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from executions.models import Activity, Membership
from executions.triggers.start import start_batch
from tests.support import admin_rows as rows
from tests.support.workflows import ACTOR, publish, task
from valkyr_plugins.limits.models import Quota

pytestmark = pytest.mark.django_db
LIST = "/admin/valkyr_limits/quota/"


@pytest.fixture(autouse=True)
def _pages(static_files: None) -> None:
    """Provide the static files that pages need."""


@pytest.fixture
def op(client: Client, django_user_model: Any) -> Client:
    """Return a superuser's client."""
    client.force_login(django_user_model.objects.create_superuser("op"))
    return client


def member(django_user_model: Any, role: str) -> Any:
    user = django_user_model.objects.create(username=f"ada-{role.lower()}", is_staff=True)
    Membership.objects.create(user=user, workspace=rows.workspace(), role=role)
    return user


def test_a_quota_is_added_shown_with_its_use_and_changed(op: Client) -> None:
    place = rows.workspace()

    added = op.post(f"{LIST}add/", {"workspace": str(place.pk), "max_per_hour": "10"})
    assert added.status_code == 302, added.content
    start_batch(publish({"tasks": [task("one")]}, place), [{}] * 3, actor=ACTOR)
    shown = op.get(LIST).content.decode()
    quota = Quota.objects.get()
    page = reverse("admin:valkyr_limits_quota_change", args=[quota.pk])
    op.post(page, {"max_per_hour": "", "max_per_day": "20"})

    assert "3 of 10" in shown
    assert 'max="10" value="3"' in shown
    assert "the whole workspace" in shown
    quota.refresh_from_db()
    assert (quota.max_per_hour, quota.max_per_day) == (None, 20)
    actions = Activity.objects.filter(object_type="Quota").order_by("created_at")
    assert [row.action for row in actions] == ["quota.create", "quota.update"]


def test_a_members_quota_is_made_by_name(op: Client, django_user_model: Any) -> None:
    user = member(django_user_model, "USER")
    place = str(rows.workspace().pk)

    op.post(f"{LIST}add/", {"workspace": place, "username": user.username, "max_per_day": "5"})
    unknown = op.post(f"{LIST}add/", {"workspace": place, "username": "nobody", "max_per_day": "5"})

    assert Quota.objects.get().user == user
    assert "There is no such user." in unknown.content.decode()


@pytest.mark.parametrize("limits", [{}, {"max_per_hour": "-1"}, {"max_per_hour": "many"}])
def test_a_quota_that_makes_no_sense_is_refused(op: Client, limits: dict[str, str]) -> None:
    answer = op.post(f"{LIST}add/", {"workspace": str(rows.workspace().pk), **limits})

    assert answer.status_code == 200
    assert not Quota.objects.exists()


def test_a_second_quota_for_the_same_is_told_off(op: Client) -> None:
    given = {"workspace": str(rows.workspace().pk), "max_per_hour": "10"}
    op.post(f"{LIST}add/", given)

    again = op.post(f"{LIST}add/", given, follow=True)

    assert "There is already a quota for the workspace" in again.content.decode()
    assert Quota.objects.count() == 1


def test_deleting_asks_for_a_reason_and_keeps_it(op: Client) -> None:
    quota = Quota.objects.create(workspace=rows.workspace(), max_per_hour=1)
    address = reverse("admin:valkyr_limits_quota_operate_delete_quota", args=[quota.pk])

    asked = op.get(address)
    op.post(address, {"_form_submitted": "True", "reason": "grown up"})

    assert "Removes the quota immediately" in asked.content.decode()
    assert not Quota.objects.exists()
    assert Activity.objects.get(action="quota.delete").reason == "grown up"


@pytest.mark.parametrize(("role", "seen"), [("ADMIN", 1), ("WORKFLOW", 0), ("USER", 0)])
def test_who_configures_a_workspace_sees_its_quotas(
    client: Client, django_user_model: Any, role: str, seen: int
) -> None:
    Quota.objects.create(workspace=rows.workspace(), max_per_hour=17)
    Quota.objects.create(workspace=rows.workspace("elsewhere"), max_per_hour=18)
    client.force_login(member(django_user_model, role))

    answer = client.get(LIST)

    text = answer.content.decode()
    assert ("of 17" in text) == bool(seen)
    assert "of 18" not in text


def test_a_quota_on_a_module_type_is_added_and_shown(op: Client) -> None:
    given = {"workspace": str(rows.workspace().pk), "resource": "module", "max_concurrent": "4"}

    op.post(f"{LIST}add/", {**given, "target": "http.request"})
    unknown = op.post(f"{LIST}add/", {**given, "target": "no.such"})

    shown = op.get(LIST).content.decode()
    assert "steps of http.request" in shown
    assert "0 of 4" in shown
    assert "There is no module type" in unknown.content.decode()
    page = op.get(reverse("admin:valkyr_limits_quota_change", args=[Quota.objects.get().pk]))
    assert "0 of 4" in page.content.decode()
