"""A trace's id is shown on the execution's page, in its list, and in the API."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from executions.models import WorkflowExecution
from tests.support.workflows import publish, start, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
LIST = "/admin/executions/workflowexecution/"


@pytest.fixture
def chief() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("chief"))
    return client


@pytest.fixture
def execution() -> WorkflowExecution:
    return WorkflowExecution.objects.get(pk=start(publish({"tasks": [task("a")]})))


def shown(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.getvalue().decode()


def test_the_page_names_the_trace_and_leads_to_it_where_it_is_shown(
    chief: Client, execution: WorkflowExecution, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"{LIST}{execution.pk}/change/"
    monkeypatch.delenv("VALKYR_TRACE_URL", raising=False)
    assert execution.trace_id in shown(chief, address)
    assert "Show the trace" not in shown(chief, address)

    monkeypatch.setenv("VALKYR_TRACE_URL", "https://traces.test/{trace_id}")
    assert f'href="https://traces.test/{execution.trace_id}"' in shown(chief, address)

    monkeypatch.setenv("VALKYR_TRACE_URL", "javascript:{trace_id}")
    assert "javascript:" not in shown(chief, address)


def test_an_execution_is_found_by_its_trace(chief: Client, execution: WorkflowExecution) -> None:
    other = start(publish({"tasks": [task("b")]}))

    with CaptureQueriesContext(
        connection,
    ) as asked:
        page = shown(chief, f"{LIST}?q={execution.trace_id}")

    assert str(execution.pk) in page
    assert str(other) not in page
    assert any("trace_id" in query["sql"] for query in asked)
    assert str(execution.pk) in shown(chief, f"{LIST}?q={execution.pk}"), "by its id as ever"


def test_every_execution_has_a_trace_though_nothing_is_traced(execution: WorkflowExecution) -> None:
    assert len(execution.trace_id) == 32
    assert int(execution.trace_id, 16)
