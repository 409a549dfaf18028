"""Loops and maps: modules with a body, which the engine runs; here is what their `with` may hold.

What depends on the body or on the installation's limits is checked with the definition.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from executions.definition.catalog import ConfigProblem
from executions.definition.templates import one_expression
from executions.definition.templating.paths import kind
from runners.modules.base import Bad, Module, ModuleInputs, Result, StepContext

MAX_COUNT = 1_000_000
MAX_ITEMS = 100_000
MAX_CONCURRENCY = 1_000
ENDINGS = ("count", "while", "until")


class Container(Module[Any]):
    """What both have in common: the engine runs the body, no worker runs the module."""

    category: ClassVar[str] = "control"
    retry: ClassVar[str] = "none"

    def execute(self, inputs: Any, ctx: StepContext) -> Result:
        raise NotImplementedError(f"the engine runs the body of {self.type}; it is never executed")


class LoopInputs(ModuleInputs):
    """When the loop ends: exactly one of `count`, `while` and `until`."""

    count: int | None = Field(
        None,
        ge=0,
        le=MAX_COUNT,
        description=f"How many iterations: 0 to {MAX_COUNT:,}, or a template.",
        examples=[3],
    )
    while_: Any = Field(
        None,
        alias="while",
        description=(
            "A template, rendered before each iteration: the loop goes on while it holds (as the "
            "condition of `flow.if`). It may read the body's tasks, whose `output` is null before "
            "the first iteration, and `loop`."
        ),
        examples=["{{ vars.page != null }}"],
    )
    until: Any = Field(
        None,
        description=(
            "A template, rendered after each iteration: the loop ends when it holds. It may read "
            "the body's tasks and `loop`."
        ),
        examples=["{{ tasks.review.outcome == 'true' }}"],
    )
    max_iterations: int | None = Field(
        None,
        ge=1,
        description=(
            "With `while` or `until`: reaching this number is a permanent error. "
            "`LOOP_LIMIT_DEFAULT` unless given, at most `LOOP_LIMIT_CONDITION` (both 1,000 unless "
            "the installation says otherwise)."
        ),
        examples=[50],
    )


class Loop(Container):
    """Runs its body again and again, one iteration after another.

    The output is `{"iterations": n, "last": {task: output, …}}` of the last iteration, `last` null
    when there was none. Inside the body `loop.index` counts from 0, `loop.iteration` from 1,
    `loop.previous` holds the outputs of the iteration before (null at first), and
    `tasks.<id>.history` a task's outputs in earlier iterations.
    """

    type = "flow.loop"
    title = "Loop"
    Inputs = LoopInputs
    container = "loop"
    deferred = ("while", "until")
    example = {"until": "{{ loop.iteration >= 3 }}", "maxIterations": 50}
    bad_inputs = (
        Bad("a negative count", {"count": -1}, "count"),
        Bad("a count past all bounds", {"count": 10**12}, "count"),
        Bad("a limit of none", {"while": True, "maxIterations": 0}, "maxIterations"),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        given = [key for key in ENDINGS if config.get(key) is not None]
        if len(given) != 1:
            found = f"found {' and '.join(given)}" if given else "found none of them"
            message = f"a loop ends by exactly one of count, while and until; {found}"
            return [ConfigProblem((), "loop_ending", message)]
        if given == ["count"] and config.get("maxIterations") is not None:
            message = "maxIterations belongs to while and until; a count loop runs its count"
            return [ConfigProblem(("maxIterations",), "conflict", message)]
        return _written_out(config, "maxIterations")


class MapInputs(ModuleInputs):
    """What to run the body for."""

    items: Any = Field(
        description=f"A list of at most {MAX_ITEMS:,} items, or a template that yields one.",
        examples=["{{ tasks.fetch.output.rows }}"],
    )
    max_concurrency: int = Field(
        100,
        ge=1,
        le=MAX_CONCURRENCY,
        description=f"How many bodies are under way at once: 1 to {MAX_CONCURRENCY:,}. "
        "Written out, not a template.",
        examples=[10],
    )
    on_item_error: Literal["fail", "continue"] = Field(
        "fail",
        description=(
            "What a failed body does: `fail` fails the map once the open bodies have ended; "
            '`continue` puts `{"error": {"message", "type", "step"}}` in its place and goes on. '
            "Written out, not a template."
        ),
        examples=["continue"],
    )


class Map(Container):
    """Runs its body once for each item of a list, many at a time.

    The output is the list of the bodies' outputs in the items' order. Inside the body `item` is
    the item and `index` its number, from 0.
    """

    type = "flow.map"
    title = "Map"
    Inputs = MapInputs
    container = "map"
    example = {"items": "{{ tasks.fetch.output.rows }}", "maxConcurrency": 10}
    bad_inputs = (
        Bad("no bodies at once", {"items": [], "maxConcurrency": 0}, "maxConcurrency"),
        Bad(
            "an answer to errors that there is not", {"items": [], "onItemError": "skip"}, "onItem"
        ),
    )

    def more_problems(self, config: Mapping[str, Any]) -> list[ConfigProblem]:
        return [
            *_items_problems(config["items"]),
            *_written_out(config, "maxConcurrency", "onItemError"),
        ]


def _items_problems(items: Any) -> Iterator[ConfigProblem]:
    if isinstance(items, list):
        if len(items) > MAX_ITEMS:
            message = f"the list has {len(items):,} items; at most {MAX_ITEMS:,} may be"
            yield ConfigProblem(("items",), "value", message)
    elif not isinstance(items, str) or not one_expression(items):
        message = (
            f"expected a list, or one {{{{ expression }}}} that yields one; found {kind(items)}"
        )
        yield ConfigProblem(("items",), "not_a_list", message)


def _written_out(config: Mapping[str, Any], *keys: str) -> list[ConfigProblem]:
    """Keys that hold a template although the engine must know them before anything runs."""
    return [
        ConfigProblem(
            (key,),
            "template_not_allowed",
            f"{key!r} is read before the workflow runs, so it must be written out",
        )
        for key in keys
        if isinstance(config.get(key), str) and "{{" in config[key]
    ]
