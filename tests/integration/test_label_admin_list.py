"""The admin's list of executions with a label reads only the rows of its page."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from executions.models import Workflow, WorkflowExecution
from executions.triggers.start import start_batch
from tests.support.workflows import ACTOR, publish, task

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("static_files")]
LIST = "/admin/executions/workflowexecution/"
MANY = 30


@pytest.fixture
def workflow() -> Workflow:
    return publish({"labels": {"country": "{{ input.country }}"}, "tasks": [task("begin")]})


@pytest.fixture
def page(client: Client, django_user_model: Any) -> Client:
    client.force_login(django_user_model.objects.create_superuser("boss"))
    return client


def listed(page: Client, **query: str) -> Any:
    answer = page.get(LIST, query)
    assert answer.status_code == 200
    return answer.context["cl"]


def test_pages_of_a_label_are_in_order_and_complete(page: Client, workflow: Workflow) -> None:
    payloads = [{"country": ("DE", "AT")[n % 2]} for n in range(2 * MANY)]
    start_batch(workflow, payloads, actor=ACTOR)
    rows = WorkflowExecution.objects.filter(labels={"country": "DE"}).order_by("-pk")
    wanted = list(rows.values_list("pk", flat=True))

    pages = [listed(page, label="country:DE", p=str(number)) for number in (1, 2)]

    assert [row.pk for one in pages for row in one.result_list] == wanted
    assert [len(one.result_list) for one in pages] == [25, 5]
    assert {one.result_count for one in pages} == {MANY}
    assert listed(page, label="country:DE", q="country:AT").result_count == 0
    assert listed(page, q="country:AT", state="failed").result_count == 0
    assert listed(page, q="country:AT", workflow=str(workflow.pk)).result_count == MANY
    assert listed(page, label="country:FR").result_count == 0


def test_a_page_of_a_label_reads_no_other_rows(page: Client, workflow: Workflow) -> None:
    start_batch(workflow, [{"country": "DE"}] * MANY, actor=ACTOR)
    listed(page, label="country:DE")

    with CaptureQueriesContext(connection) as queries:
        found = listed(page, label="country:DE")

    texts = [one["sql"] for one in queries]
    assert not [sql for sql in texts if "COUNT(" in sql and "executions_workflowexecution" in sql]
    [rows] = [sql for sql in texts if sql.startswith("SELECT") and '"executions_workflow"' in sql
              and "unnest" in sql]  # fmt: skip
    # All executions of the label, and again those of this page.
    assert rows.count("unnest") == 2
    assert len(found.result_list) == 25
