"""Workers over HTTP: users who see any work see shared workers; remote ones are shown to their
workspace.
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from rest_framework.test import APIClient

from executions.models import Workspace
from runners.models import Runner

pytestmark = pytest.mark.django_db


@pytest.fixture
def fleet(workspace: Workspace, elsewhere: Workspace) -> dict[str, Runner]:
    """Create a shared worker, and a remote runner in each workspace."""
    return {
        name: Runner.objects.create(
            name=name, host="box-1", pid=1, pool=pool, queues=["io"], workspace=place
        )
        for name, pool, place in (
            ("shared", "prefork", None),
            ("ours", "remote", workspace),
            ("theirs", "remote", elsewhere),
        )
    }


@pytest.mark.parametrize(
    ("role", "seen"),
    [
        ("ADMIN", ["ours", "shared"]),
        ("WORKFLOW", ["ours", "shared"]),
        ("SYSTEM", []),
        ("USER", []),
        (None, ["theirs", "ours", "shared"]),
    ],
)
def test_runners_are_seen_by_whom_they_serve(
    fleet: dict[str, Runner],
    member: Callable[..., Any],
    client_of: Callable[[Any], APIClient],
    role: str | None,
    seen: list[str],
) -> None:
    user = member(role) if role else get_user_model().objects.create_superuser("root")
    client = client_of(user)

    listed = [row["name"] for row in client.get("/v1/Runner").json()]
    single = [name for name, row in fleet.items() if _status(client, row) == 200]

    assert listed == seen
    assert sorted(single) == sorted(seen)


def _status(client: APIClient, row: Runner) -> int:
    answer = client.get(f"/v1/Runner/{row.pk}")
    assert answer.status_code in {200, 404}
    return int(answer.status_code)


def test_runners_can_be_listed_by_pool(fleet: dict[str, Runner], admin: APIClient) -> None:
    [row] = admin.get("/v1/Runner?pool=remote").json()

    assert row["name"] == "ours"
    assert row["queues"] == ["io"]
