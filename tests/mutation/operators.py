"""The changes of a line of Python: cosmic-ray's operators, and one that omits a call."""

from collections.abc import Iterator
from typing import Any

from cosmic_ray import plugins
from cosmic_ray.operators.operator import Example, Operator
from parso.python.tree import ExprStmt, Keyword, PythonNode

# For each comparison and sum, the change that is nearest to a typing error: a dozen others of the
# same operator would all fail in the same test, and count twelve times.
CHOSEN = (
    "AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceTrueWithFalse",
    "ReplaceFalseWithTrue", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak",
    "ExceptionReplacer", "NumberReplacer", "ZeroIterationForLoop",
    "ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_USub_UAdd",
    "ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add",
    "ReplaceBinaryOperator_Mul_Div", "ReplaceBinaryOperator_Div_Mul",
    "ReplaceComparisonOperator_Eq_NotEq", "ReplaceComparisonOperator_NotEq_Eq",
    "ReplaceComparisonOperator_Lt_LtE", "ReplaceComparisonOperator_LtE_Lt",
    "ReplaceComparisonOperator_Gt_GtE", "ReplaceComparisonOperator_GtE_Gt",
    "ReplaceComparisonOperator_Is_IsNot", "ReplaceComparisonOperator_IsNot_Is",
)  # fmt: skip
# Calls that decide nothing: logs, counters, output.
TELLING = ("log.", "metrics.", "tell_taken_over(", "_tell(", "tracing.")


class LeaveOutCall(Operator):
    """Replaces a call without a used result by `pass`."""

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield statements that are only a call."""
        if isinstance(node, PythonNode) and node.type == "simple_stmt":
            first = node.children[0]
            called = first.type in {"atom_expr", "power"} and first.children[-1].type == "trailer"
            if (
                called
                and not isinstance(first, ExprStmt)
                and first.children[-1].children[0].value == "("
                and not first.get_code(include_prefix=False).startswith(TELLING)
            ):
                yield first.start_pos, first.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        """Replace the call by `pass`."""
        first = node.children[0]
        node.children[0] = Keyword("pass", first.start_pos, first.get_first_leaf().prefix)
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return examples for cosmic-ray's own tests."""
        return (Example("f(1)\n", "pass\n"),)


class OfTerms(Operator):
    """A cosmic-ray operator that applies only to products, not to the `*` of a signature."""

    def __init__(self, usual: Operator) -> None:
        self._usual = usual

    def mutation_positions(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the positions within a product or a quotient."""
        if node.parent is not None and node.parent.type == "term":
            yield from self._usual.mutation_positions(node)

    def mutate(self, node: Any, index: int) -> Any:
        """Change the node as the usual operator does."""
        return self._usual.mutate(node, index)

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        """Return examples for cosmic-ray's own tests."""
        return (Example("a * b\n", "a / b\n"),)


def operators() -> dict[str, Operator]:
    """Return all operators by name."""
    known = {name: plugins.get_operator(f"core/{name}")() for name in CHOSEN}
    products = "ReplaceBinaryOperator_Mul_Div"
    return {**known, products: OfTerms(known[products]), "LeaveOutCall": LeaveOutCall()}
