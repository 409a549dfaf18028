"""A served workflow, a user with a token, and the live document."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.contrib.auth import get_user_model

from executions.access.actor import Actor
from executions.accounts.tokens import create_token
from executions.models import Membership
from tests.support.engine_database import engine_database
from tests.support.web import web_process
from tests.support.workflows import default_workspace, publish

GREETING = {
    "name": "greeting",
    "input": {"type": "object", "required": ["name"]},
    "tasks": [
        {"id": "greet", "use": "data.set", "with": {"values": {"text": "Hello {{ input.name }}"}}}
    ],
}


@dataclass(frozen=True)
class Served:
    """A server's address, a token for it, a workflow to start, and the API's document in a file."""

    address: str
    token: str
    workflow: str
    document: Path

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the programs that use a client."""
        return {"URL": self.address, "TOKEN": self.token, "WORKFLOW": self.workflow}


@pytest.fixture(scope="package")
def served(
    django_db_setup: None,
    django_db_blocker: Any,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("served")
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        workspace = default_workspace()
        maker: Any = get_user_model().objects.create_user("administrator")
        Membership.objects.create(user=maker, workspace=workspace, role="ADMIN")
        workflow = publish(GREETING)
        _, token = create_token(
            workspace, maker, name="clients", maker=maker, actor=Actor.of(maker)
        )
        with web_process(folder / "web.log") as address:
            found = httpx.get(
                f"{address}/v1/schema",
                headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
                timeout=60,
            )
            found.raise_for_status()
            document = folder / "openapi.json"
            document.write_text(json.dumps(found.json()))
            yield Served(address, token, str(workflow.pk), document)
