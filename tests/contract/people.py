"""A workspace, users in each role, and their clients, created if missing."""

from typing import Any

from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Membership, Tier, Workspace

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


def a_workspace(slug: str = "default") -> Workspace:
    """Return the workspace with this slug."""
    tier = Tier.objects.get_or_create(name="unlimited")[0]
    facts = {"name": slug.capitalize(), "tier": tier}
    return Workspace.objects.get_or_create(slug=slug, defaults=facts)[0]


def a_member(role: str, place: Workspace | None = None, name: str = "") -> Any:
    """Return a user with a role in a workspace (by default in the default one)."""
    place = place or a_workspace()
    # Without a password: hashing one takes longer than the test.
    name = name or f"{role.lower()}-{place.slug}"
    users = get_user_model().objects
    user = users.filter(username=name).first() or users.create_user(name)
    Membership.objects.get_or_create(user=user, workspace=place, defaults={"role": role})
    return user


def a_client(user: Any) -> APIClient:
    """Return a client signed in as a user."""
    client = APIClient()
    client.force_authenticate(user)
    return client


def an_author() -> APIClient:
    """Return a client of a user who may write, publish and operate workflows."""
    return a_client(a_member("WORKFLOW"))


def a_greeting(author: APIClient) -> dict[str, Any]:
    """Publish a workflow; return it as the API shows it."""
    return published(author, GREETING)


def published(author: APIClient, definition: dict[str, Any]) -> dict[str, Any]:
    """Publish a workflow with this definition; return it as the API shows it."""
    made = author.post("/v1/Workflow", {"definition": definition}, format="json")
    assert made.status_code == 201, made.content
    answer = author.post(f"/v1/Workflow/{made.data['id']}/publish")
    assert answer.status_code == 201, answer.content
    shown: dict[str, Any] = author.get(f"/v1/Workflow/{made.data['id']}").json()
    return shown
