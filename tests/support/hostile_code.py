"""Workflow code that attacks its worker, which must continue."""

from collections.abc import Mapping

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.workflows import publish, start, task, wait_for_end


def require_unharmed(
    fleet: Fleet, module: str, hostile: Mapping[str, tuple[str, str]], good: str
) -> None:
    """Fail unless each hostile code fails with its error type, and good code doubles 21 after them.

    `hostile` maps names to complete code and the type of its error.
    """
    workers = [fleet["default-1"], fleet["default-2"]]
    before = [worker.children for worker in workers]
    tasks = [
        task(
            name,
            module,
            retry="none",
            **{"with": {"code": code, "seconds": 3 if end == "TIMEOUT" else 30}},
        )
        for name, (code, end) in hostile.items()
    ]
    bad = start(publish({"tasks": tasks}))

    assert wait_for_end([bad])[bad] == "FAILED"
    ends = Run.objects.filter(execution_id=bad).values_list("step_path", "error_type")
    assert dict(ends) == {f"{name}.main": end for name, (_, end) in hostile.items()}
    assert [worker.children for worker in workers] == before

    code = task("double", module, **{"with": {"code": good, "inputs": "{{ input }}"}})
    after = start(
        publish({"tasks": [code], "output": "{{ tasks.double.output.result }}"}), {"a": 21}
    )

    assert wait_for_end([after])[after] == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=after).output == 42
    audit([bad, after])
