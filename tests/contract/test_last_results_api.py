"""The last results of a workflow's tasks, as the studio shows them next to their forms."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from executions.models import Membership, Workflow
from executions.models import WorkflowUserPermission as Given
from executions.states import Permission
from runners.models import Run
from tests.support.segments import claimed, recorded, run_of
from tests.support.workflows import publish, start, task

pytestmark = pytest.mark.django_db
LOOP = {
    "id": "turn",
    "use": "flow.loop",
    "with": {"count": 2},
    "body": {"tasks": [{"id": "inner", "use": "flow.noop"}]},
}


@pytest.fixture
def flow() -> Workflow:
    one = task("one", **{"with": {"value": {"n": 1}}})
    return publish({"tasks": [one, task("two", "flow.noop", "one")]})


def results(client: APIClient, workflow: Workflow, query: str = "") -> Any:
    return client.get(f"/v1/Workflow/{workflow.pk}/last-results{query}").json()


def test_a_workflow_that_has_not_run_has_none(author: APIClient, flow: Workflow) -> None:
    told = results(author, flow)

    assert told["tasks"] == {}
    assert {told[name] for name in told if name != "tasks"} == {None}


def test_each_task_shows_its_newest_attempt(author: APIClient, flow: Workflow) -> None:
    pk = start(flow)
    recorded(claimed(pk, "one.main"))

    told = results(author, flow)

    assert (told["executionId"], told["version"], told["test"]) == (str(pk), 1, False)
    one = told["tasks"]["one"]
    assert (one["state"], one["outcome"], one["attempts"]) == ("SUCCESS", "success", 1)
    assert one["runId"] == str(run_of(pk, "one.main").pk)
    assert one["endedAt"] >= one["startedAt"]
    assert set(told["tasks"]) <= {"one", "two"}


def test_the_newest_execution_counts_unless_another_is_named(
    author: APIClient, flow: Workflow
) -> None:
    first, second = start(flow), start(flow)

    assert results(author, flow)["executionId"] == str(second)
    assert results(author, flow, f"?executionId={first}")["executionId"] == str(first)


def test_an_execution_of_another_workflow_is_none_of_this_one(
    author: APIClient, flow: Workflow
) -> None:
    other = start(publish({"tasks": [task("x")]}))

    answer = author.get(f"/v1/Workflow/{flow.pk}/last-results?executionId={other}")

    assert answer.status_code == 404


def test_of_a_body_the_turn_that_began_last_is_shown(author: APIClient) -> None:
    flow = publish({"tasks": [LOOP]})
    pk = start(flow)
    first = Run.objects.filter(execution_id=pk).latest("id")
    for turn in range(2):
        Run.objects.create(
            execution_id=pk,
            segment="s",
            step_path=f"turn[{turn}].inner.main",
            task_id="00000000-0000-0000-0000-000000000001",
            module_id=first.module_id,
            module="flow.noop",
            state="SUCCESS",
            outputs={"turn": turn},
            finished_at=first.queued_at,
            queue="default",
        )

    told = results(author, flow)["tasks"]

    assert set(told) == {"turn", "turn.inner"}
    assert told["turn.inner"]["outputs"] == {"turn": 1}


def test_large_values_are_left_out_and_say_where_they_are(
    author: APIClient, flow: Workflow
) -> None:
    pk = start(flow, {"text": "x" * 20_000})
    recorded(claimed(pk, "one.main"))
    row = run_of(pk, "one.main")
    for large in ("y" * 20_000, {f"key {n}": str(n * 7919) for n in range(3_000)}):
        Run.objects.filter(pk=row.pk).update(outputs=large)

        told = results(author, flow)

        assert told["tasks"]["one"]["outputs"]["runId"] == str(row.pk)
        assert "16,384" in told["tasks"]["one"]["outputs"]["$truncated"]
        assert told["payload"]["executionId"] == str(pk)


def test_values_are_hidden_from_who_may_see_no_payloads(
    flow: Workflow, member: Callable[..., Any], client_of: Callable[[Any], APIClient]
) -> None:
    pk = start(flow)
    recorded(claimed(pk, "one.main"))
    reader = member("USER", flow.workspace)
    Given.objects.create(
        user=reader,
        content_object=flow,
        permission_id=_code("read_workflow"),
    )

    hidden = results(client_of(reader), flow)
    Membership.objects.filter(user=reader).update(permissions=[Permission.VIEW_PAYLOADS])
    shown = results(client_of(reader), flow)

    assert "$hidden" in hidden["tasks"]["one"]["outputs"]
    assert "$hidden" in hidden["payload"]
    assert "$hidden" not in str(shown)
    assert hidden["tasks"]["one"]["state"] == "SUCCESS"


def test_results_cost_the_same_few_queries_whatever_the_number_of_tasks(
    author: APIClient,
) -> None:
    counts = []
    for many in (2, 40):
        flow = publish({"tasks": [task(f"t{n}") for n in range(many)]})
        start(flow)
        with CaptureQueriesContext(connection) as asked:
            assert len(results(author, flow)["tasks"]) == many
        counts.append(len(asked))

    assert counts[0] == counts[1] <= 5


def _code(name: str) -> int:
    from django.contrib.auth.models import Permission as Code

    return Code.objects.get(codename=name).pk
