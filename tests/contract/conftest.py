"""A workspace, people in each role, and clients that act for them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Membership, Tier, Workspace
from tests.support.rates import forget_rates

GREETING: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "greeting",
    "input": {
        "type": "object",
        "required": ["name"],
        "properties": {"name": {"type": "string"}},
    },
    "tasks": [
        {"id": "greet", "use": "data.set", "with": {"values": {"text": "Hello {{ input.name }}"}}}
    ],
    "output": "{{ tasks.greet.output }}",
}


@pytest.fixture(autouse=True)
def _nobody_asked_before() -> None:
    forget_rates()


@pytest.fixture(autouse=True)
def _no_collected_files(settings: Any, tmp_path: Path) -> None:
    settings.STATIC_ROOT = tmp_path
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    settings.STORAGES = settings.STORAGES | {"staticfiles": plain}


@pytest.fixture
def tier(db: None) -> Tier:
    return Tier.objects.get_or_create(name="unlimited")[0]


@pytest.fixture
def workspace(tier: Tier) -> Workspace:
    return Workspace.objects.get_or_create(
        slug="default", defaults={"name": "Default", "tier": tier}
    )[0]


@pytest.fixture
def elsewhere(tier: Tier) -> Workspace:
    return Workspace.objects.create(slug="elsewhere", name="Elsewhere", tier=tier)


@pytest.fixture
def member(workspace: Workspace) -> Callable[..., Any]:
    """A user with a role in a workspace (the default one unless another is named)."""

    def make(role: str, place: Workspace | None = None, name: str = "") -> Any:
        place = place or workspace
        # Without a password: hashing one takes longer than the test.
        user = get_user_model().objects.create_user(name or f"{role.lower()}-{place.slug}")
        Membership.objects.create(user=user, workspace=place, role=role)
        return user

    return make


@pytest.fixture
def client_of() -> Callable[[Any], APIClient]:
    """A client signed in as a user."""

    def make(user: Any) -> APIClient:
        client = APIClient()
        client.force_authenticate(user)
        return client

    return make


@pytest.fixture
def author(member: Callable[..., Any], client_of: Callable[[Any], APIClient]) -> APIClient:
    """Somebody who may write, publish and operate workflows."""
    return client_of(member("WORKFLOW"))


@pytest.fixture
def admin(member: Callable[..., Any], client_of: Callable[[Any], APIClient]) -> APIClient:
    return client_of(member("ADMIN"))


@pytest.fixture
def stranger() -> APIClient:
    """Nobody."""
    return APIClient()


@pytest.fixture
def greeting(author: APIClient) -> dict[str, Any]:
    """A published workflow, as the API shows it."""
    made = author.post("/v1/Workflow", {"definition": GREETING}, format="json")
    assert made.status_code == 201, made.content
    published = author.post(f"/v1/Workflow/{made.data['id']}/publish")
    assert published.status_code == 201, published.content
    shown: dict[str, Any] = author.get(f"/v1/Workflow/{made.data['id']}").json()
    return shown
