"""Operators that Jinja2 compiles to Python's own, turned into calls of counted functions.

Comparisons, `~`, slices and objects become filters whose names no template can write.
"""

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import nodes

from executions.templating import limits
from executions.templating.comparing import OPERATORS

CONCATENATE, SLICE, KEY = "~", "[:]", "{}"
_COMPARE = "compare {}"

FILTERS: Mapping[str, Callable[..., Any]] = {
    CONCATENATE: limits.concatenated,
    SLICE: limits.sliced,
    KEY: limits.key,
    **{_COMPARE.format(name): function for name, function in OPERATORS.items()},
}


def counted(node: nodes.Node) -> nodes.Node:
    """Return the tree with its operators turned into filters; the tree itself is changed."""
    for name in node.fields:
        value = getattr(node, name)
        if isinstance(value, nodes.Node):
            setattr(node, name, counted(value))
        elif isinstance(value, list):
            setattr(node, name, [counted(v) if isinstance(v, nodes.Node) else v for v in value])
    if isinstance(node, nodes.Compare):
        return _comparison(node)
    if isinstance(node, nodes.Concat):
        # Every operand is a text, as everywhere else: JSON unless it is one.
        first, *others = (_filter(operand, "string") for operand in node.nodes)
        return _filter(first, CONCATENATE, *others)
    if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
        parts = (node.arg.start, node.arg.stop, node.arg.step)
        bounds = [part or nodes.Const(None, lineno=node.lineno) for part in parts]
        return _filter(node.node, SLICE, *bounds)
    if isinstance(node, nodes.Pair):
        node.key = _filter(node.key, KEY)
    return node


def _comparison(node: nodes.Compare) -> nodes.Expr:
    """`a < b < c` as `a < b and b < c`."""
    left, found = node.expr, None
    for operand in node.ops:
        one: nodes.Expr = _filter(left, _COMPARE.format(operand.op), operand.expr)
        found = one if found is None else nodes.And(found, one, lineno=node.lineno)
        left = operand.expr
    assert found is not None
    return found


def _filter(value: nodes.Expr, name: str, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(args), [], None, None, lineno=value.lineno)
