"""JavaScript of workflows runs in real workers, which continue whatever the code does."""

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.workflows import publish, start, task, wait_for_end

HOSTILE = {
    "loops": ("for (;;) { try { for (;;) {} } catch {} }", "TIMEOUT"),
    "hoards": ("const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)", "PERMANENT"),
    "recurses": ("return main() + 1", "PERMANENT"),
    "prints": ("for (;;) console.log('x'.repeat(1e5))", "PERMANENT"),
    "spies": ("return require('fs').readFileSync('/proc/self/environ')", "PERMANENT"),
}
GOOD = "async function main({ a }) { return (await a) * 2 }\n"


def test_hostile_javascript_fails_its_step_and_the_workers_go_on(fleet: Fleet) -> None:
    workers = [fleet["default-1"], fleet["default-2"]]
    before = [worker.children for worker in workers]
    tasks = [
        task(
            name,
            "javascript.code",
            retry="none",
            **{
                "with": {
                    "code": f"function main() {{ {code} }}",
                    "seconds": 3 if end == "TIMEOUT" else 30,
                }
            },
        )
        for name, (code, end) in HOSTILE.items()
    ]
    bad = start(publish({"tasks": tasks}))

    assert wait_for_end([bad])[bad] == "FAILED"
    ends = Run.objects.filter(execution_id=bad).values_list("step_path", "error_type")
    assert dict(ends) == {f"{name}.main": end for name, (_, end) in HOSTILE.items()}
    assert [worker.children for worker in workers] == before

    code = task("double", "javascript.code", **{"with": {"code": GOOD, "inputs": "{{ input }}"}})
    good = start(
        publish({"tasks": [code], "output": "{{ tasks.double.output.result }}"}), {"a": 21}
    )

    assert wait_for_end([good])[good] == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=good).output == 42
    audit([bad, good])
