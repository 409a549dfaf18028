"""Workflows' code runs in real workers, which continue whatever the code does."""

from pathlib import Path

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.workflows import publish, start, task, wait_for_end

HOSTILE = {
    "forks": ("os.fork()", "PERMANENT"),
    "hoards": ("bytearray(10 * 2**30)", "PERMANENT"),
    "loops": ("exec('while True: pass')", "TIMEOUT"),
    "kills": ("[os.kill(pid, 9) for pid in (0, -1, os.getppid())], os._exit(1)", "PERMANENT"),
    "spies": ("open('/proc/self/environ').read()", "PERMANENT"),
}
GOOD = "def main(inputs):\n    return inputs['a'] * 2\n"


def test_a_worker_without_bubblewrap_says_so_when_it_starts(fleet: Fleet, tmp_path: Path) -> None:
    worker = fleet.worker("poor", "default", "prefork", 1, PATH=str(tmp_path))
    try:
        fleet.ensure()

        said = worker.log.read_text()
        assert said.count("code of workflows runs in the built-in sandbox") == 1
        assert "there is no program bwrap on the PATH" in said
    finally:
        fleet.remove("poor")


def test_hostile_code_fails_its_step_and_the_workers_go_on(fleet: Fleet) -> None:
    workers = [fleet["default-1"], fleet["default-2"]]
    before = [worker.children for worker in workers]
    tasks = [
        task(
            name,
            "python.code",
            retry="none",
            **{
                "with": {
                    "code": f"import os\ndef main(inputs):\n    {code}\n",
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

    code = task("double", "python.code", **{"with": {"code": GOOD, "inputs": "{{ input }}"}})
    good = start(
        publish({"tasks": [code], "output": "{{ tasks.double.output.result }}"}), {"a": 21}
    )

    assert wait_for_end([good])[good] == "SUCCESS"
    assert WorkflowExecution.objects.get(pk=good).output == 42
    audit([bad, good])
