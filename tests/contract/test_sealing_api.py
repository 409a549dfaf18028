"""The sealing of a workspace over HTTP: the permission to change it, its answers, and the stored
rows.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Activity, PayloadKey, Workspace
from executions.states import Role

pytestmark = pytest.mark.django_db

Clients = Callable[[Any], APIClient]


@pytest.fixture
def root(client_of: Clients) -> APIClient:
    """Return a superuser's client."""
    return client_of(get_user_model().objects.create_superuser("root"))


def test_a_superuser_seals_rotates_and_stops(root: APIClient, workspace: Workspace) -> None:
    address = f"/v1/Workspace/{workspace.pk}/sealing"
    off = {"enabled": False, "key": None, "keyCreatedAt": None, "oldKeys": 0}
    assert root.get(address).json() == off

    on = root.patch(address, {"enabled": True, "reason": "customer data"}, "json").json()
    assert (on["enabled"], on["oldKeys"]) == (True, 0)
    assert PayloadKey.objects.get(seals=True).pk == on["key"]

    rotated = root.patch(address, {"rotate": True}, "json").json()
    assert (rotated["enabled"], rotated["oldKeys"]) == (True, 1)
    assert rotated["key"] != on["key"]

    stopped = root.patch(address, {"enabled": False}, "json").json()
    assert stopped == off | {"oldKeys": 2}
    trail = Activity.objects.filter(action__startswith="payloads.").order_by("pk")
    assert list(trail.values_list("action", flat=True)) == [
        "payloads.seal", "payloads.rotate", "payloads.open",
    ]  # fmt: skip
    assert trail[0].reason == "customer data"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"rotate": False}, 422),
        ({"enabled": True, "rotate": True}, 422),
        ({"enabled": "yes"}, 422),
        ({"rotate": True}, 409),
        ({"enabled": False}, 409),
    ],
)
def test_a_wrong_change_is_refused_and_changes_nothing(
    root: APIClient, workspace: Workspace, body: dict[str, Any], status: int
) -> None:
    answer = root.patch(f"/v1/Workspace/{workspace.pk}/sealing", body, "json")

    assert answer.status_code == status, answer.content
    assert not PayloadKey.objects.exists()
    assert not Activity.objects.filter(action__startswith="payloads.").exists()


def test_only_superusers_change_it_and_only_administrators_see_it(
    workspace: Workspace, member: Callable[..., Any], client_of: Clients
) -> None:
    address = f"/v1/Workspace/{workspace.pk}/sealing"
    admin = client_of(member(Role.ADMIN))
    assert admin.get(address).status_code == 200
    assert admin.patch(address, {"enabled": True}, "json").status_code == 403
    viewer = client_of(member(Role.USER))
    assert viewer.get(address).status_code == 403
    stranger = client_of(get_user_model().objects.create_user("stranger"))
    assert stranger.get(address).status_code == 404
    assert not PayloadKey.objects.exists()
