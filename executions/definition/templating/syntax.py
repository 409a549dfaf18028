"""Walk a parsed expression: find the paths that it reads, and check that its parts are known."""

import json
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from jinja2 import nodes

from executions.definition.templating.errors import ExpressionSyntaxError
from executions.definition.templating.sandbox import ENVIRONMENT

MAX_NODE_DEPTH = 60

_KINDS = (
    nodes.Name,
    nodes.Literal,
    nodes.Pair,
    nodes.Keyword,
    nodes.CondExpr,
    nodes.Filter,
    nodes.Test,
    nodes.Call,
    nodes.Getitem,
    nodes.Getattr,
    nodes.Slice,
    nodes.Concat,
    nodes.Compare,
    nodes.Operand,
    nodes.BinExpr,
    nodes.UnaryExpr,
)

Keys = tuple[str | int, ...]


def check_syntax(tree: nodes.Expr) -> list[Keys]:
    """Return the paths that an expression reads.

    Raises ExpressionSyntaxError for unavailable or unknown parts, and for nesting that is too deep.
    """
    found: list[Keys] = []
    pending: list[tuple[nodes.Node, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if depth > MAX_NODE_DEPTH:
            raise ExpressionSyntaxError(
                "template_too_complex",
                f"the expression is nested more than {MAX_NODE_DEPTH} deep; split it",
            )
        _check_available(node)
        path = _path(node)
        if path is not None:
            found.append(path)
        children = node.iter_child_nodes() if path is None else _computed_keys(node)
        pending.extend((child, depth + 1) for child in children)
    return found


def _check_available(node: nodes.Node) -> None:
    if not isinstance(node, _KINDS):
        raise ExpressionSyntaxError(
            "template_syntax", f"{type(node).__name__} is not available in templates"
        )
    if isinstance(node, nodes.Filter):
        _check_listed("filter", node.name, ENVIRONMENT.filters)
    elif isinstance(node, nodes.Test):
        _check_listed("test", node.name, ENVIRONMENT.tests)


def _check_listed(what: str, name: str, known: Mapping[str, object]) -> None:
    if name not in known:
        close = get_close_matches(name, known, n=1)
        hint = f'; did you mean "{close[0]}"?' if close else ""
        raise ExpressionSyntaxError(f"unknown_{what}", f'there is no {what} "{name}"{hint}')


def _path(node: nodes.Node) -> Keys | None:
    """Return a path's name and keys up to the first computed key; None for any other expression."""
    if not isinstance(node, (nodes.Name, nodes.Getattr, nodes.Getitem)):
        return None
    keys = list(_keys_outside_in(node))
    if not keys or keys[-1] is None:
        return None
    constant: list[str | int] = []
    for key in reversed(keys):
        if key is None:
            break
        constant.append(key)
    return tuple(constant)


def _computed_keys(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yield the expressions inside the brackets of a path: `tasks.a.output[input.key]`."""
    while isinstance(node, (nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getitem):
            yield node.arg
        node = node.node


def _keys_outside_in(node: nodes.Node) -> Iterator[str | int | None]:
    """Yield each subscript's key (None if not constant), and finally the name (or None)."""
    while True:
        if isinstance(node, nodes.Getattr):
            yield node.attr
        elif isinstance(node, nodes.Getitem):
            argument = node.arg
            constant = isinstance(argument, nodes.Const) and isinstance(argument.value, (str, int))
            yield argument.value if constant else None  # type: ignore[attr-defined]
        else:
            yield node.name if isinstance(node, nodes.Name) else None
            return
        node = node.node


# `{{ todo("…") }}` describes a part that is not written yet. A draft may contain it; a version must
# not.
#
# It replaces a value that could not be imported, such as an expression of another program, and
# keeps the original readable.


NAME = "todo"
CODE = "unfinished"


def todo(what: str) -> str:
    """Return a placeholder template for a part that a user must write; `what` describes it."""
    return "{{ " + todo_call(what) + " }}"


def todo_call(what: str) -> str:
    """Return the placeholder of `todo` without braces, for use within an expression."""
    return f"{NAME}({json.dumps(what, ensure_ascii=False)})"


def refuse_unfinished(tree: nodes.Expr) -> None:
    """Raise ExpressionSyntaxError if the expression contains a placeholder (see `todo`)."""
    calls = [tree] if isinstance(tree, nodes.Call) else []
    for call in (*calls, *tree.find_all(nodes.Call)):
        if isinstance(call.node, nodes.Name) and call.node.name == NAME:
            raise ExpressionSyntaxError(CODE, f"replace this placeholder: {_said(call)}")


def _said(call: nodes.Call) -> str:
    first = call.args[0] if call.args else None
    value = first.value if isinstance(first, nodes.Const) else None
    return value if isinstance(value, str) and value else "todo() without a description"
