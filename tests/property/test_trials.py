"""Test runs of random workflows always have a valid definition with all requested parts, and no
others.
"""

import json
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from executions.definition.catalog import catalog
from executions.definition.graph.compile import compile_graph
from executions.definition.graph.document import normalise
from executions.definition.graph.plan import plan
from executions.definition.graph.resolve import resolve
from executions.definition.graph.trial import PINNED, Pin, Trial, TrialRequest, trial
from executions.definition.graph.trial.request import literal
from executions.definition.graph.validation import problems
from executions.definition.templates import compile_template
from runners.modules import registry
from tests.property.test_definitions import values as any_json
from tests.support import modules
from tests.support.compiled import WORKFLOW
from tests.support.graphs import draw

SETTINGS = settings(max_examples=150, deadline=None, derandomize=True)
seeds = st.integers(0, 2**32 - 1)
hostile = st.sampled_from(["{{ 1 }}", "{{{", "{%", "{{{{%", "\\{{", '"{{', "}}", "{#", "{{ x }}\n"])
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | hostile,
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | hostile, inner),
    max_leaves=20,
)

# Nearly valid: cycles, duplicate ids, edges to nowhere, gates without outcomes.
some = st.sampled_from(["a", "b", "c"])
tasks = st.lists(
    st.fixed_dictionaries(
        {"id": some | any_json, "use": st.sampled_from(["flow.noop", "flow.if", "flow.switch"])},
        optional={
            "with": any_json | st.fixed_dictionaries({"value": st.just("{{ tasks.b.output }}")}),
            "after": any_json | some,
            "body": any_json,
        },
    ),
    max_size=5,
)
edges = st.lists(
    st.fixed_dictionaries({"from": some, "to": some}, optional={"on": any_json}), max_size=5
)


class Drawn:
    """A random workflow, one of its tasks, and the tasks before and after that one."""

    def __init__(self, seed: int) -> None:
        modules.register()
        self.rng = Random(seed)
        self.document = draw(self.rng, most=9, depth=2, waits=0.1).document
        self.ids = [task["id"] for task in self.document["tasks"]]
        self.task = self.rng.choice(self.ids)
        self.before = self._reached("to", "from")
        self.after = self._reached("from", "to")

    def _reached(self, near: str, far: str) -> set[str]:
        seen, pending = set[str](), [self.task]
        while pending:
            task = pending.pop()
            ahead = {e[far] for e in self.document["edges"] if e[near] == task} - seen
            seen |= ahead
            pending += ahead
        return seen

    def pins(self, names: set[str]) -> dict[str, Pin]:
        """Return a result for each task, with an outcome that the task has edges on."""
        return {
            name: Pin({"of": name}, self.rng.choice(self._outcomes(name))) for name in sorted(names)
        }

    def _outcomes(self, name: str) -> list[str]:
        found = {e.get("on", "success") for e in self.document["edges"] if e["from"] == name}
        task = next(task for task in self.document["tasks"] if task["id"] == name)
        config = task.get("with", {})
        gates = config.get("cases") or config.get("outcomes")
        return sorted(found) or (gates or ["success"])[:1]

    def trial(self, asked: TrialRequest) -> Trial:
        return trial(self.document, catalog(), asked)


def mistakes(made: Trial) -> list[tuple[str, str]]:
    return [(one.path, one.code) for one in made.told(problems(made.document, catalog()))]


def ids(made: Trial, *, running: bool = False) -> set[str]:
    return {
        task["id"] for task in made.document["tasks"] if not running or task.get("use") != PINNED
    }


@SETTINGS
@given(seed=seeds)
def test_a_run_up_to_a_task_has_it_and_what_comes_before_alone(seed: int) -> None:
    drawn = Drawn(seed)

    made = drawn.trial(TrialRequest(up_to=drawn.task))

    assert mistakes(made) == []
    assert ids(made) == drawn.before | {drawn.task}


@SETTINGS
@given(seed=seeds)
def test_a_run_from_a_task_runs_nothing_before_it_and_starts_it_at_once(seed: int) -> None:
    drawn = Drawn(seed)

    made = drawn.trial(TrialRequest(start=drawn.task, pinned=drawn.pins(drawn.before)))

    assert mistakes(made) == []
    assert {drawn.task} | drawn.after <= ids(made, running=True)
    assert not drawn.before & ids(made, running=True)
    graph = compile_graph(resolve(normalise(made.document), catalog()), WORKFLOW)
    task = graph.tasks[graph.task_by_id[drawn.task]]
    assert {graph.tasks[edge.source].id for edge in task.incoming} <= drawn.before
    assert task.steps[0] in plan(graph, {}).start or task.incoming


@SETTINGS
@given(seed=seeds)
def test_pinning_what_is_named_as_missing_is_enough(seed: int) -> None:
    drawn = Drawn(seed)

    first = mistakes(drawn.trial(TrialRequest(start=drawn.task)))
    assert {code for _, code in first} <= {"not_pinned"}
    missing = {path.removeprefix("pinned.") for path, _ in first}
    assert missing <= drawn.before

    assert mistakes(drawn.trial(TrialRequest(start=drawn.task, pinned=drawn.pins(missing)))) == []


@SETTINGS
@given(seed=seeds)
def test_any_tasks_can_be_pinned_and_what_they_alone_need_is_left_out(seed: int) -> None:
    drawn = Drawn(seed)
    chosen = {name for name in drawn.ids if drawn.rng.random() < 0.4}
    asked = TrialRequest(drawn.rng.choice([None, drawn.task]), None, drawn.pins(chosen))

    made = drawn.trial(asked)

    assert mistakes(made) == []
    assert not chosen & ids(made, running=True)
    sources = {edge["from"] for edge in made.document["edges"]}
    assert asked.up_to is not None or all(
        task["id"] in sources
        or task["id"] not in {e["from"] for e in drawn.document["edges"]}
        or task.get("use") == PINNED
        for task in made.document["tasks"]
    )


@SETTINGS
@given(
    document=st.fixed_dictionaries({"tasks": any_json | tasks, "edges": any_json | edges}),
    names=st.lists(st.sampled_from(["a", "b", "a.b", ""]), max_size=3),
)
def test_no_document_is_too_broken_to_be_told_so(document: Any, names: list[str]) -> None:
    for up_to, start in ((None, None), ("a", None), (None, "b"), ("a", "b")):
        made = trial(document, catalog(), TrialRequest(up_to, start, dict.fromkeys(names, Pin())))
        made.told(problems(made.document, catalog()))


@SETTINGS
@given(value=values)
def test_a_pinned_value_comes_out_as_it_went_in(value: Any) -> None:
    value = json.loads(json.dumps(value))
    template = compile_template(literal(value))

    assert template.constant
    module = registry.get("flow.pinned")
    given_back = module.validated(template.render({})).value
    assert given_back == value
