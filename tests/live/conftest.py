"""One web process on a database of committed rows, which the tests write."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth import get_user_model

from executions.models import Membership, Workflow, Workspace
from tests.support import signed_in
from tests.support.engine_database import engine_database
from tests.support.web_server import WebServer, web_server
from tests.support.workflows import default_workspace, publish, start, task


@pytest.fixture(scope="package")
def database(
    django_db_setup: None, django_db_blocker: Any, request: pytest.FixtureRequest
) -> Iterator[None]:
    with engine_database(django_db_blocker, keep=request.config.getvalue("reuse_db")):
        yield


@pytest.fixture(scope="package")
def server(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebServer]:
    with web_server(tmp_path_factory.mktemp("live") / "web.log") as made:
        yield made


@pytest.fixture
def web(server: WebServer, request: pytest.FixtureRequest) -> Iterator[WebServer]:
    """Yield the web process; show its log if a test fails."""
    before = server.log.stat().st_size
    yield server
    said = server.log.read_text()[before:]
    request.node.add_report_section("call", "log of web", said[-4000:])


def person(name: str, workspace: Workspace, role: str = "ADMIN") -> Any:
    user, _ = get_user_model().objects.get_or_create(username=name)
    Membership.objects.get_or_create(user=user, workspace=workspace, defaults={"role": role})
    return user


def bearer(user: Any) -> dict[str, str]:
    return {"Authorization": signed_in.bearer(user)}


@pytest.fixture
def ann(database: None) -> dict[str, str]:
    """Return the headers of an administrator of the default workspace."""
    return bearer(person("ann", default_workspace()))


@pytest.fixture
def stranger(database: None) -> dict[str, str]:
    """Return the headers of an administrator of another workspace."""
    workspace, _ = Workspace.objects.get_or_create(
        slug="elsewhere", defaults={"name": "Elsewhere", "tier": default_workspace().tier}
    )
    return bearer(person("stranger", workspace))


@pytest.fixture(scope="package")
def workflow(database: None) -> Workflow:
    """Publish a workflow of three steps that do not wait for each other."""
    return publish({"tasks": [task("a"), task("b"), task("c")]})


@pytest.fixture
def execution(workflow: Workflow) -> UUID:
    """Start an execution with three pending runs, which no worker takes."""
    return start(workflow)


@pytest.fixture
def address(web: WebServer) -> Callable[[UUID], str]:
    """Return a function that returns the URL for watching an execution."""
    return lambda pk: f"{web.address}/v1/WorkflowExecution/{pk}/subscribe"
