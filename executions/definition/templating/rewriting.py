"""Turns the operators that Jinja compiles to plain Python into filters that count their work.

`+`, `*`, `**` and `%` are intercepted by Jinja's sandbox. Comparisons, `~`, slices and the keys of
object literals are not, so their nodes are replaced; the names of these filters cannot be written.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import nodes
from jinja2.visitor import NodeTransformer

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.comparing import COMPARISONS, Chained, contains, key
from executions.definition.templating.items import sliced
from executions.definition.templating.texts import concatenated


def rewritten(tree: nodes.Expr) -> nodes.Expr:
    """The expression with every operator counted."""
    return _Rewriting().visit(tree)  # type: ignore[no-any-return]


class _Rewriting(NodeTransformer):
    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        return _filter(nodes.List(node.nodes, lineno=node.lineno), "(~)")

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if len(node.ops) == 1:
            operand = node.ops[0]
            return _filter(node.expr, f"({operand.op})", operand.expr)
        node.expr = _filter(node.expr, "(chained)")
        for operand in node.ops:
            operand.expr = _filter(operand.expr, "(chained)")
        return node

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        none = nodes.Const(None, lineno=node.lineno)
        part = node.arg
        return _filter(
            node.node, "(slice)", part.start or none, part.stop or none, part.step or none
        )

    def visit_Pair(self, node: nodes.Pair) -> nodes.Pair:  # noqa: N802 - Jinja's name
        self.generic_visit(node)
        if not isinstance(node.key, nodes.Const):
            node.key = _filter(node.key, "(key)")
        return node


def _filter(value: nodes.Expr, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(args), [], None, None, lineno=value.lineno)


def _within(budget: RenderBudget, item: Any, container: Any) -> bool:
    return contains(budget, container, item)


def _not_within(budget: RenderBudget, item: Any, container: Any) -> bool:
    return not contains(budget, container, item)


def _key(_: RenderBudget, value: Any) -> Any:
    return key(value)


OPERATORS: Mapping[str, Callable[..., Any]] = {
    **{f"({name})": compare for name, compare in COMPARISONS.items()},
    "(in)": _within,
    "(notin)": _not_within,
    "(chained)": Chained,
    "(slice)": sliced,
    "(key)": _key,
    "(~)": concatenated,
}
