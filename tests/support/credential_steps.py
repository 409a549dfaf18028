"""Steps that use the credential `bank`, run in one thread on a real database."""

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from uuid import UUID

import pytest

from executions.models import Credential, CredentialUse, Workflow, Workspace
from tests.support.single_thread import World, world
from tests.support.workflows import default_workspace, start, task


@contextmanager
def quiet_world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Create workers that lose nothing, and may connect to servers on this machine."""
    monkeypatch.setenv("VALKYR_HTTP_ALLOWED_NETWORKS", "127.0.0.0/8")
    with world(Random(0), monkeypatch, lose=0, double=0, die=0) as quiet:
        yield quiet


@contextmanager
def own_credentials() -> Iterator[Workspace]:
    """Yield the default workspace; delete its credentials and their uses afterwards."""
    yield default_workspace()
    CredentialUse.objects.all().delete()
    Credential.objects.all().delete()


def asks(url: str, **more: Any) -> dict[str, Any]:
    """Return a step that requests the address with the credential, once."""
    given = {"with": {"url": url}, "credential": "bank", "retry": "none"}
    return task("ask", "http.request", **(given | more))


def ran(queue: World, workflow: Workflow, payload: Any = None) -> UUID:
    """Start the workflow and run all of its steps; return the execution's id."""
    execution = start(workflow, payload)
    queue.drain()
    return execution
