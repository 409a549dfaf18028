from typing import Any
from uuid import UUID

from executions.models import WorkflowExecution
from runners.models import Run
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.workflows import effect, publish, start, start_many, task, wait_for_end


def finished(document: dict[str, Any], payload: Any = None) -> WorkflowExecution:
    execution_id = start(publish(document), payload)
    wait_for_end([execution_id])
    return WorkflowExecution.objects.get(pk=execution_id)


def states_of(execution_id: UUID) -> dict[str, str]:
    runs = Run.objects.filter(execution_id=execution_id).order_by("attempt")
    return {run.step_path: run.state for run in runs}


def test_an_empty_workflow_succeeds_at_once(fleet: Fleet) -> None:
    execution = finished({"tasks": []})
    assert (execution.state, execution.output) == ("SUCCESS", None)
    assert execution.metrics_snapshot["runs"] == 0


def test_an_output_may_read_the_payload_though_no_step_does(fleet: Fleet) -> None:
    execution = finished({"output": "{{ input.n }}", "tasks": [task("only")]}, {"n": 5})
    assert (execution.state, execution.output) == ("SUCCESS", 5)


def test_a_gate_takes_one_branch_and_skips_the_other(fleet: Fleet) -> None:
    workflow = publish(
        {
            "output": "{{ tasks.last.output.size }}",
            "tasks": [
                task("big", "flow.if", **{"with": {"condition": "{{ input.total > 1000 }}"}}),
                task("review", "data.set", "big:true", **{"with": {"values": {"size": "large"}}}),
                task("pass", "data.set", "big:false", **{"with": {"values": {"size": "small"}}}),
                task(
                    "last",
                    "data.set",
                    ["review", "pass"],
                    **{"with": {"values": "{{ tasks.review.output or tasks.pass.output }}"}},
                ),
            ],
        }
    )
    ids = start_many(workflow, [{"total": 5}, {"total": 5000}])
    wait_for_end(ids)
    found = [WorkflowExecution.objects.get(pk=pk) for pk in ids]
    assert [execution.output for execution in found] == ["small", "large"]
    assert states_of(ids[0])["review.main"] == "SKIPPED"
    assert states_of(ids[1])["pass.main"] == "SKIPPED"
    audit(ids)


def test_a_join_of_all_is_skipped_when_one_branch_was_not_taken(fleet: Fleet) -> None:
    execution = finished(
        {
            "tasks": [
                task("gate", "flow.if", **{"with": {"condition": True}}),
                effect("yes", "gate:true"),
                effect("no", "gate:false"),
                effect("both", ["yes", "no"], join="all"),
                effect("either", ["yes", "no"]),
            ]
        }
    )
    states = states_of(execution.pk)
    assert states["both.main"] == "SKIPPED"
    assert states["either.main"] == "SUCCESS"
    audit([execution.pk])


def test_a_failed_step_takes_its_error_edge_and_the_execution_goes_on(fleet: Fleet) -> None:
    execution = finished(
        {
            "output": "{{ tasks.refund.output.why }}",
            "tasks": [
                effect("charge", failTimes=99, errorType="PERMANENT"),
                effect("ship", "charge"),
                task(
                    "refund",
                    "data.set",
                    "charge:error",
                    **{"with": {"values": {"why": "{{ tasks.charge.error.type }}"}}},
                ),
            ],
        }
    )
    assert (execution.state, execution.output) == ("SUCCESS", "PERMANENT")
    assert states_of(execution.pk)["ship.main"] == "SKIPPED"
    assert execution.metrics_snapshot["deadLetters"] == 0
    audit([execution.pk])


def test_modules_of_one_task_hand_their_outputs_on(fleet: Fleet) -> None:
    execution = finished(
        {
            "output": "{{ tasks.sum.output }}",
            "tasks": [
                {
                    "id": "sum",
                    "modules": [
                        {"id": "one", "use": "data.set", "with": {"values": {"n": 1}}},
                        {
                            "id": "two",
                            "use": "test.effect",
                            "with": {"value": "{{ previous.n + 1 }}"},
                        },
                        {
                            "id": "three",
                            "use": "data.set",
                            "with": {"values": {"n": "{{ previous + 1 }}"}},
                        },
                    ],
                }
            ],
        }
    )
    assert execution.output == {"n": 3}
    assert set(states_of(execution.pk)) == {"sum.one", "sum.two", "sum.three"}


def test_variables_written_by_one_step_are_read_by_the_next(fleet: Fleet) -> None:
    execution = finished(
        {
            "variables": {"carrier": None, "count": 1},
            "output": "{{ vars.carrier ~ vars.count }}",
            "tasks": [
                task(
                    "choose",
                    "flow.set_variables",
                    **{"with": {"values": {"carrier": "DHL", "count": "{{ vars.count + 1 }}"}}},
                ),
                effect("ship", "choose", value="{{ vars.carrier }}"),
                task(
                    "again",
                    "flow.set_variables",
                    "ship",
                    **{"with": {"values": {"carrier": "{{ tasks.ship.output }}!"}}},
                ),
            ],
        }
    )
    assert execution.output == "DHL!2"
    assert execution.context_data == {"carrier": "DHL!", "count": 2}


def test_a_template_that_fails_fails_its_step_and_names_itself(fleet: Fleet) -> None:
    execution = finished(
        {
            "tasks": [
                task("read", "data.set", **{"with": {"values": {"a": 1}}}),
                effect("use", "read", value="{{ tasks.read.output.b.c }}"),
            ]
        }
    )
    run = Run.objects.get(execution=execution, step_path="use.main")
    assert (execution.state, run.state, run.error_type) == ("FAILED", "DLQ", "PERMANENT")
    for part in ("use.main", "tasks.read.output.b.c", "b"):
        assert part in run.error
    assert run.error in execution.error_message


def test_an_output_that_cannot_be_rendered_fails_the_execution_only(fleet: Fleet) -> None:
    execution = finished(
        {
            "output": "{{ tasks.one.output.missing }}",
            "tasks": [task("one", "data.set", **{"with": {"values": {"a": 1}}})],
        }
    )
    assert execution.state == "FAILED"
    assert "output" in execution.error_message
    assert not execution.dead_letters.exists()


def test_a_fan_of_more_branches_than_a_chord_holds_joins_once(fleet: Fleet) -> None:
    names = [f"b{n}" for n in range(130)]
    execution = finished(
        {
            "output": "{{ tasks.join.output }}",
            "tasks": [
                task("fork"),
                *[effect(name, "fork", value=1) for name in names],
                effect("join", names, join="all", value="{{ tasks.b0.output + 1 }}"),
            ],
        }
    )
    assert (execution.state, execution.output) == ("SUCCESS", 2)
    audit([execution.pk])


def test_a_wide_fan_of_pure_steps_is_recorded_in_several_stretches(fleet: Fleet) -> None:
    names = [f"b{n}" for n in range(80)]
    execution = finished(
        {
            "output": "{{ tasks.join.output.n }}",
            "tasks": [
                task("fork"),
                *[
                    task(name, "data.set", "fork", **{"with": {"values": {"n": number}}})
                    for number, name in enumerate(names)
                ],
                task(
                    "join",
                    "data.set",
                    names,
                    join="all",
                    **{"with": {"values": {"n": "{{ tasks.b79.output.n }}"}}},
                ),
            ],
        }
    )
    assert (execution.state, execution.output) == ("SUCCESS", 79)
    audit([execution.pk])


def test_steps_on_changing_queues_follow_each_other(fleet: Fleet) -> None:
    tasks = [effect("t0")]
    for number in range(1, 12):
        queue = {"queue": "io"} if number % 2 else {}
        tasks.append(effect(f"t{number}", f"t{number - 1}", value=number) | queue)
    execution = finished({"tasks": tasks, "output": "{{ tasks.t11.output }}"})
    assert (execution.state, execution.output) == ("SUCCESS", 11)
    queues = Run.objects.filter(execution=execution).order_by("started_at")
    assert [run.queue for run in queues] == ["default", "io"] * 6
    audit([execution.pk])


def test_an_output_too_large_to_keep_is_a_permanent_error_that_says_so(fleet: Fleet) -> None:
    execution = finished(
        {
            "tasks": [
                task("grow", "data.set", **{"with": {"values": {"text": "{{ input.text * 6 }}"}}}),
                effect("keep", "grow", value="{{ [tasks.grow.output.text] * 9 }}"),
            ]
        },
        {"text": "x" * 150_000},
    )
    run = Run.objects.get(execution=execution, step_path="keep.main")
    assert (run.state, run.error_type) == ("DLQ", "PERMANENT")
    assert "the result has more than 5,242,880 characters" in run.error


def test_a_retry_is_told_what_the_attempt_before_said_of_itself(fleet: Fleet) -> None:
    execution = finished(
        {
            "output": "{{ tasks.scan.output }}",
            "tasks": [
                effect(
                    "scan",
                    tell={"page": 7},
                    failTimes=1,
                    retry={"maxAttempts": 2, "baseSeconds": 0.05},
                )
            ],
        }
    )
    assert execution.state == "SUCCESS"
    first, second = Run.objects.filter(execution=execution).order_by("attempt")
    assert (first.state, second.state) == ("FAILED", "SUCCESS")
    assert second.heartbeat_details == {"page": 7}
