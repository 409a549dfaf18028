"""Sub-workflows on real workers end, fail, are cancelled, and survive the loss of their workers."""

from uuid import UUID

from executions import lifecycle
from executions.models import WorkflowExecution
from tests.support.auditor import audit
from tests.support.fleet import Fleet
from tests.support.waiting import wait_until
from tests.support.workflows import (
    ACTOR,
    describe,
    effect,
    publish,
    start,
    start_many,
    states,
    task,
    wait_for_end,
)


def call(slug: str, name: str = "call", **given):
    return task(name, "flow.subworkflow", **{"with": {"workflow": slug, **given}})


def caller(slug: str, **given):
    document = {"tasks": [call(slug, **given)], "output": "{{ tasks.call.output.output }}"}
    return publish(document)


def family(root: UUID) -> list[UUID]:
    """Return an execution and all its descendants."""
    found, last = [root], [root]
    while last:
        children = WorkflowExecution.objects.filter(parent_id__in=last)
        last = list(children.values_list("pk", flat=True))
        found += last
    return found


def test_a_call_within_a_call_gives_back_what_the_innermost_returns(fleet: Fleet) -> None:
    inner = publish(
        {"tasks": [effect("a", value="{{ input.n * 2 }}")], "output": "{{ tasks.a.output }}"}
    )
    middle = caller(inner.slug, input={"n": "{{ input.n + 1 }}"})
    outer = caller(middle.slug, input={"n": "{{ input.n }}"})
    roots = start_many(outer, [{"n": n} for n in range(10)])
    wait_for_end(roots)
    done = dict(WorkflowExecution.objects.filter(pk__in=roots).values_list("pk", "output"))
    assert [done[root] for root in roots] == [2 * (n + 1) for n in range(10)], describe(roots)
    audit(pk for root in roots for pk in family(root))


def test_a_child_whose_worker_is_killed_ends_and_so_does_its_parent(fleet: Fleet) -> None:
    inner = publish(
        {"tasks": [effect("a", value=7, killTimes=1)], "output": "{{ tasks.a.output }}"}
    )
    root = start(caller(inner.slug))
    wait_for_end([root])
    assert WorkflowExecution.objects.get(pk=root).output == 7, describe(family(root))
    audit(family(root))


def test_cancelling_a_parent_ends_a_child_that_works(fleet: Fleet) -> None:
    inner = publish({"tasks": [effect("a", seconds=60)]})
    root = start(caller(caller(inner.slug).slug))
    wait_until(lambda: len(family(root)) == 3, 30, "two children")
    lifecycle.cancel(root, actor=ACTOR)
    ended = wait_for_end(family(root), 20)
    assert set(ended.values()) == {"CANCELLED"}, describe(family(root))


def test_parents_go_on_though_control_workers_die_as_their_children_end(fleet: Fleet) -> None:
    inner = publish({"tasks": [effect("a", seconds=0.5)], "output": "done"})
    roots = start_many(caller(inner.slug), [{} for _ in range(10)])
    wait_until(lambda: all(len(family(root)) == 2 for root in roots), 30, "all children")
    fleet["control"].kill()
    wait_until(
        lambda: all(states(family(root)[1:]).popitem()[1] == "SUCCESS" for root in roots),
        30,
        "the children's end",
    )
    fleet["control"].start()
    ended = wait_for_end(roots)
    assert set(ended.values()) == {"SUCCESS"}, describe(roots)
    audit(pk for root in roots for pk in family(root))
