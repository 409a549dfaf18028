"""The overhead of a data module on small inputs: its own time, and that of a whole pure step.

A whole step is the worker's work for it in memory: render, canonical JSON, hash and key, the time
limit, the module, its output as JSON. No database is needed.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

MOST_MS = 0.1
ROUNDS, CALLS = 7, 200
ROWS = [{"id": str(n), "country": "DE", "total": "12.50"} for n in range(10)]
PAGE = "<h1>Teas</h1><ul>" + "<li><a href=/t>Oolong</a> <b>12</b></li>" * 5 + "</ul>"

# A small `with` of each, as in a step of a workflow.
SMALL: dict[str, dict[str, Any]] = {
    "data.set": {"values": {"amount": "{{ input.rows[0].total }}", "currency": "EUR"}},
    "data.template": {"text": "Dear {{ input.name }}, your order {{ input.rows[0].id }} is here."},
    "data.jmespath": {"expression": "[?country == 'DE'].id", "data": "{{ input.rows }}"},
    "data.json_parse": {"text": '{"id": 17, "items": [{"sku": "tea", "price": 12.5}]}'},
    "data.aggregate": {
        "rows": "{{ input.rows }}",
        "groupBy": "country",
        "compute": {
            "orders": {"function": "count"},
            "total": {"function": "sum", "field": "total"},
        },
    },
    "data.deduplicate": {"rows": "{{ input.rows }}", "by": "country"},
    "data.sort": {"rows": "{{ input.rows }}", "by": ["total"]},
    "data.validate": {
        "data": "{{ input.rows[0] }}",
        "schema": {"type": "object", "required": ["id"]},
    },
    "data.csv_parse": {"text": "id,total\n" + "17,12.50\n" * 10},
    "data.csv_write": {"rows": "{{ input.rows }}"},
    "data.xml_parse": {"text": "<o id='1'>" + "<i>tea</i>" * 10 + "</o>"},
    "data.html_extract": {
        "html": PAGE,
        "fields": {"title": "h1", "teas": {"selector": "li > a", "all": True}},
    },
}
INPUT = {"name": "Ann", "rows": ROWS}


@dataclass(frozen=True, slots=True)
class Cost:
    """Milliseconds of CPU per call in the best of several rounds, which other work affects
    least.
    """

    module: str
    alone: float
    step: float


def measure() -> list[Cost]:
    """Measure each module of the family; Django must be set up."""
    return [_cost(name, config) for name, config in SMALL.items()]


def table(costs: list[Cost]) -> str:
    """Return a table with one row per module."""
    lines = [f"\n{'CPU ms a call':22} {'module':>8} {'whole step':>11}   module <= {MOST_MS}"]
    for cost in costs:
        verdict = "met" if cost.alone <= MOST_MS else "MISSED"
        lines.append(f"{cost.module:22} {cost.alone:8.3f} {cost.step:11.3f}   {verdict}")
    return "\n".join(lines)


def _cost(name: str, config: dict[str, Any]) -> Cost:
    from executions.definition.catalog import catalog
    from executions.definition.graph.compile import compile_graph
    from executions.definition.graph.document import normalise
    from executions.definition.graph.places import Place
    from executions.definition.graph.resolve import resolve
    from runners.modules import registry
    from runners.pipeline.execute import run_module, seconds_for
    from runners.segment.context import SegmentContext
    from runners.segment.inputs import prepare
    from runners.segment.step_context import Context, time_limit
    from runners.segment.template_data import TemplateData

    tasks = [{"id": "t", "use": name, "with": config}]
    document = normalise({"schema": "valkyr/1", "name": "bench", "tasks": tasks})
    graph = compile_graph(resolve(document, catalog()), UUID(int=8))
    version: Any = SimpleNamespace(graph=graph, workspace_id=UUID(int=2))
    place = Place("", graph)
    segment = SegmentContext(UUID(int=1), version, epoch=0, priority=5, input=INPUT)
    data = TemplateData(segment, place)
    step = graph.steps[0]
    rendered = prepare(data, step, 1)

    def context() -> Context:
        return Context(
            execution_id=segment.execution_id,
            step_path="t.main",
            attempt=1,
            idempotency_key=rendered.key,
            seconds=step.timeout_seconds,
            variables={},
        )

    def whole() -> None:
        prepared = prepare(data, step, 1)
        with time_limit(seconds_for(step)):
            run_module(place, step, prepared, context())

    module, ready = registry.get(name), context()
    return Cost(name, _timed(lambda: module.run(rendered.value, ready)), _timed(whole))


def _timed(call: Callable[[], Any]) -> float:
    call()
    rounds = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(CALLS):
            call()
        rounds.append(1000 * (time.process_time() - began) / CALLS)
    return min(rounds)
