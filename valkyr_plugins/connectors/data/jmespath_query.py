"""`data.jmespath`: select, filter and reshape data with JMESPath, with a limit on the work."""

import json
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

from jmespath import functions, parser, visitor
from jmespath.exceptions import JMESPathError
from pydantic import Field, field_validator

from runners.public.modules import Bad, ModuleInputs, ModuleOutputs, Result, StepContext, StepError
from valkyr_plugins.connectors.data.bounds import MAX_BYTES, PureModule, weight

# JMESPath with a limited amount of work: no expression creates more data than a step may return.
#
# Repeated 30 times, `[@,@][]` creates a billion items from one item. `join` and `to_string` create
# texts of any length. A comparison of two values that `[@,@]` created 40 times takes days. No
# timeout interrupts loops in C, so the data that an expression creates or compares is counted.


MAX_EXPRESSION = 10_000  # in characters
# 5 MiB of JSON contain at most 2.6 million items.
MAX_ITEMS = 5_000_000
# Maximum bytes of JSON that one search for a value in a list may compare.
MAX_COMPARED = 50_000_000

Query = Callable[..., Any]


@lru_cache(maxsize=256)
def compiled(expression: str) -> Query:
    """Return a function that applies an expression to data. Raises ValueError for invalid JMESPath.

    The function also accepts `most`, the maximum bytes of the result's JSON (None: no maximum). It
    raises StepError if the expression does not fit the data, or if a value becomes too large.
    """
    if len(expression) > MAX_EXPRESSION:
        raise ValueError(f"an expression has at most {MAX_EXPRESSION:,} characters")
    try:
        tree = parser.Parser().parse(expression).parsed
    except (JMESPathError, RecursionError) as error:
        why = "it nests too deep" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"not a JMESPath expression: {why}") from error
    return partial(_search, tree, expression)


def _search(tree: Any, expression: str, data: Any, most: int | None = MAX_BYTES) -> Any:
    shown = expression if len(expression) <= 200 else f"{expression[:200]}…"
    try:
        result = _Interpreter().visit(tree, data)
    # jmespath does not catch Python's own errors, for example if a list is compared with a text.
    except (JMESPathError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise StepError(f"JMESPath expression {shown!r} does not fit the data: {error}") from error
    if most is not None and weight(result, most) > most:
        raise _too_much()
    return result


def _too_much() -> StepError:
    return StepError(
        f"the result of the JMESPath expression has more than {MAX_BYTES:,} bytes of JSON: "
        "select less"
    )


class _Functions(functions.Functions):
    """JMESPath's functions, with limits where they can enlarge text or compare large values."""

    @functions.signature({"types": ["array", "string"]}, {"types": []})
    def _func_contains(self, subject: Any, search: Any) -> bool:
        if isinstance(search, list | dict):
            size = weight(search)
            if size > MAX_BYTES or size * len(subject) > MAX_COMPARED:
                raise _too_much()
        return search in subject

    @functions.signature({"types": ["string"]}, {"types": ["array-string"]})
    def _func_join(self, separator: str, texts: list[str]) -> str:
        if sum(map(len, texts)) + len(separator) * len(texts) > MAX_BYTES:
            raise _too_much()
        return separator.join(texts)

    @functions.signature({"types": []})
    def _func_to_string(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        if weight(value) > MAX_BYTES:
            raise _too_much()
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


class _Interpreter(visitor.TreeInterpreter):
    """Evaluates an expression; limits the items that it creates, and large comparisons."""

    def __init__(self) -> None:
        super().__init__(visitor.Options(custom_functions=_FUNCTIONS))
        self.left = MAX_ITEMS

    def visit_comparator(self, node: Any, value: Any) -> Any:
        if node["value"] not in ("eq", "ne"):
            return super().visit_comparator(node, value)  # compares numbers only
        one, other = (self.visit(child, value) for child in node["children"])
        if weight(one) > MAX_BYTES and weight(other) > MAX_BYTES:
            raise _too_much()
        return self.COMPARATOR_FUNC[node["value"]](one, other)

    def visit_flatten(self, node: Any, value: Any) -> Any:
        base = self.visit(node["children"][0], value)
        if not isinstance(base, list):
            return None
        # Counted before the list is created, because the list may not fit into memory.
        self._made(sum(len(item) if isinstance(item, list) else 1 for item in base))
        flat: list[Any] = []
        for item in base:
            flat.extend(item) if isinstance(item, list) else flat.append(item)
        return flat

    def visit_projection(self, node: Any, value: Any) -> Any:
        return self._counted(super().visit_projection(node, value))

    def visit_filter_projection(self, node: Any, value: Any) -> Any:
        return self._counted(super().visit_filter_projection(node, value))

    def visit_value_projection(self, node: Any, value: Any) -> Any:
        return self._counted(super().visit_value_projection(node, value))

    def visit_function_expression(self, node: Any, value: Any) -> Any:
        return self._counted(super().visit_function_expression(node, value))

    def _counted(self, result: Any) -> Any:
        if isinstance(result, list):
            self._made(len(result))
        return result

    def _made(self, items: int) -> None:
        self.left -= items
        if self.left < 0:
            raise _too_much()


_FUNCTIONS = _Functions()


# Creates a value of a billion parts in 40 steps.
DOUBLED = "|".join(["[@,@]"] * 40)


class JmespathInputs(ModuleInputs):
    """The data to query, and the JMESPath expression."""

    expression: str = Field(
        description="A JMESPath expression (jmespath.org).", examples=["orders[?total > `100`].id"]
    )
    data: Any = Field(description="The data for the expression.", examples=["{{ previous.body }}"])

    @field_validator("expression")
    @classmethod
    def _expression_parses(cls, expression: str) -> str:
        compiled(expression)
        return expression


class JmespathOutputs(ModuleOutputs):
    """The selected value."""

    result: Any = Field(
        description="The selected data; null if a field is missing, [] if a filter matches nothing."
    )


class Jmespath(PureModule):
    """Selects, filters and reshapes data with a JMESPath expression.

    The result is limited to 5 MiB of JSON.
    """

    type = "data.jmespath"
    title = "JMESPath"
    Inputs = JmespathInputs
    Outputs = JmespathOutputs
    example = {
        "expression": "[?total > `100`].{id: id, total: total}",
        "data": "{{ tasks.fetch.output.body.orders }}",
    }
    bad_inputs = (
        Bad(
            "an incomplete expression",
            {"expression": "orders[?total >", "data": {}},
            "not a JMESPath expression",
        ),
        Bad(
            "a function that does not take this data",
            {"expression": "length(@)", "data": 3},
            "'length(@)' does not fit the data",
        ),
        Bad(
            "an expression that doubles the data thirty times",
            {"expression": "|".join(["[@,@][]"] * 30), "data": [1]},
            "has more than",
        ),
        Bad(
            "one that does so without a longer list",
            {"expression": DOUBLED, "data": "x"},
            "has more than",
        ),
        Bad(
            "two such values in a comparison",
            {"expression": f"({DOUBLED}) == ({DOUBLED})", "data": "x"},
            "has more than",
        ),
        Bad(
            "a search for such a value",
            {"expression": f"contains([{DOUBLED}], {DOUBLED})", "data": "x"},
            "has more than",
        ),
        Bad(
            "a text joined with itself into terabytes",
            lambda: {"expression": "join(@[0], @)", "data": ["x" * 1_000_000] * 4},
            "has more than",
        ),
        Bad(
            "an expression that nests 4,000 deep",
            {"expression": "(" * 4_000 + "a" + ")" * 4_000, "data": {}},
            "nests too deep",
        ),
    )

    def execute(self, inputs: JmespathInputs, ctx: StepContext) -> Result:
        return Result({"result": compiled(inputs.expression)(inputs.data)})
