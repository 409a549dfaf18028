"""Test runs: the draft, or a part of it, runs once, by hand."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action
from executions.api.documentation import operation
from executions.api.execution_shapes import WorkflowExecutionShape
from executions.api.starting import Starting
from executions.api.trial_shapes import NewTestRun, asked
from executions.publishing.test_runs import start_trial


class StartTestRun(Starting):
    """Start one test run."""

    @operation(
        "testWorkflow",
        "Workflow",
        {202: WorkflowExecutionShape},
        request=NewTestRun,
        errors=[403, 404, 409, 429],
        idempotent=True,
    )
    def post(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """Run the draft, or the definition in the body, as a test version of its own.

        `upTo` and `from` choose a part of it; `pinned` gives results in place of tasks, which are
        then not run. The draft stays as it is, and the version goes after a day.
        """
        workflow, may = self.workflow(id, Action.AUTHOR)
        self.workflow(id, Action.TRIGGER)
        given = self.body(NewTestRun)
        execution = start_trial(
            workflow,
            given["params"],
            asked(given),
            actor=self.actor,
            definition=given.get("definition"),
            priority=given.get("priority"),
        )
        return Response(
            WorkflowExecutionShape(execution, context={"may": may}).data,
            202,
            headers={"Location": f"/v1/WorkflowExecution/{execution.pk}"},
        )
