"""`{{ todo("…") }}`: what somebody still has to write, in words; a draft may hold it, no version.

It stands where a value could not be brought along, such as an expression of another program, and
keeps what was there readable.
"""

import json

from jinja2 import nodes

from executions.definition.templating.errors import ExpressionSyntaxError

NAME = "todo"
CODE = "unfinished"


def todo(what: str) -> str:
    """The template that stands for what is still to be written; `what` says it in words."""
    return "{{ " + todo_call(what) + " }}"


def todo_call(what: str) -> str:
    """The same as an expression, to stand within another one."""
    return f"{NAME}({json.dumps(what, ensure_ascii=False)})"


def refuse_unfinished(tree: nodes.Expr) -> None:
    """Raise ExpressionSyntaxError where the expression holds something still to be written."""
    calls = [tree] if isinstance(tree, nodes.Call) else []
    for call in (*calls, *tree.find_all(nodes.Call)):
        if isinstance(call.node, nodes.Name) and call.node.name == NAME:
            raise ExpressionSyntaxError(CODE, f"this is still to be written: {_said(call)}")


def _said(call: nodes.Call) -> str:
    first = call.args[0] if call.args else None
    value = first.value if isinstance(first, nodes.Const) else None
    return value if isinstance(value, str) and value else "todo() does not say what"
