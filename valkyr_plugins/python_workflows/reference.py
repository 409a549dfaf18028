"""The page docs/reference/python-api.md, generated from signatures and docstrings."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, get_overloads

from executions.public.starting import ExecutionFailed, Handle
from runners.public.modules import StepFunction
from runners.public.testing import WorkflowRun
from valkyr_plugins.python_workflows import names
from valkyr_plugins.python_workflows.constructs.bodies import TracedTurns
from valkyr_plugins.python_workflows.constructs.branches import TracedSwitch
from valkyr_plugins.python_workflows.constructs.waits import TracedApproval, TracedCallback
from valkyr_plugins.python_workflows.workflow import PythonWorkflow

LINE = 88
HEAD = """# Names for workflows in Python

Import each name, except the [objects](#objects), from `valkyr`. [Workflows in
Python](../how-to/python-workflows.md) shows how to use these names. `**options` are the [options
of a task](../how-to/python-workflows.md#options). `python manage.py describe_python_api` writes
this page from the code's signatures and docstrings.
"""
GROUPS: Mapping[str, Sequence[str]] = {
    "Declare": ("workflow", "step"),
    "Decide": ("when", "otherwise", "switch", "failed", "succeeded", "outcome", "error"),
    "Order": ("then", "parallel", "chain"),
    "Repeat": ("each", "repeat", "history", "sub"),
    "Agents": ("agent", "tool"),
    "Wait": ("sleep", "approve", "wait_event", "callback"),
    "Values": (
        "choose", "first_of", "contains", "is_missing", "not_", "expr", "filters", "variables",
        "secrets", "execution", "event",
    ),
    "Built-in modules": ("modules",),
    "In steps": ("StepContext", "StepError"),
    "Errors": ("TracingError",),
}  # fmt: skip
# Descriptions of values whose types say less.
MEANINGS: Mapping[str, str] = {
    "filters": 'Template filters, by name: `filters.length(x)`, `filters.map(x, attribute="id")`.',
    "secrets": "The workspace's secrets: `secrets.pay_key` is inserted when the step runs.",
    "execution": "The running execution: `execution.id`, `execution.startedAt`.",
    "event": "The event's payload, for `where=` and the filters of triggers.",
}
# Methods that only the tracer calls.
INTERNAL = frozenset({"parameters", "payload_of", "place"})
OBJECTS: Mapping[str, tuple[str, type]] = {
    "A workflow": ("the result of `@workflow`", PythonWorkflow),
    "A step": ("the result of `@step`", StepFunction),
    "A started execution": ("the result of `start`", Handle),
    "A test's run": ("the result of `run_here`", WorkflowRun),
    "A switch": ("the result of `switch`", TracedSwitch),
    "A loop's turn": ("the value of `turn` in `with repeat(…) as turn`", TracedTurns),
    "An approval": ("the result of `approve`", TracedApproval),
    "A callback": ("the result of `callback`", TracedCallback),
    "A failed execution": ("the exception that `output` raises", ExecutionFailed),
}


def page() -> str:
    """Return the text of the reference page."""
    parts = [HEAD]
    for title, group in GROUPS.items():
        parts += [f"## {title}\n", *(_entry(name) for name in group)]
    parts.append("## Objects\n")
    parts += [_object(title, said, kind) for title, (said, kind) in OBJECTS.items()]
    return "\n".join(parts).rstrip() + "\n"


def _entry(name: str) -> str:
    value = getattr(names, name)
    if name in MEANINGS:
        return f"### {name}\n\n{MEANINGS[name]}\n"
    if isinstance(value, type):
        return f"### {name}\n\n{_constructor(value)}{_doc(value)}\n\n{_members(value)}"
    function = value if inspect.isfunction(value) else type(value).__call__
    return f"### {name}\n\n{_code(_signature(function, name))}{_doc(value)}\n"


def _object(title: str, said: str, kind: type) -> str:
    return f"### {title}\n\n`{kind.__name__}`: {said}.\n\n{_doc(kind)}\n\n{_members(kind)}"


def _constructor(kind: type) -> str:
    own: Any = vars(kind).get("__init__")
    is_plain = inspect.isfunction(own) and Protocol not in kind.__bases__
    return _code(_signature(own, kind.__name__)) if is_plain else ""


def _members(kind: type) -> str:
    rows = [f"| `{call}` | {said} |" for call, said in _rows(kind)]
    return "\n".join(["| | |", "|---|---|", *rows, ""]) if rows else ""


def _rows(kind: type) -> Iterator[tuple[str, str]]:
    for name, member in vars(kind).items():
        read = member.fget if isinstance(member, property) else member
        if (
            name.startswith("_")
            or name in INTERNAL
            or not callable(read)
            or not inspect.getdoc(read)
        ):
            continue
        if read is not member:
            yield name, _value(_first(read))
        else:
            yield _one_line(_signature(read, name)).replace("|", "\\|"), _first(read)


def _value(docstring: str) -> str:
    """Return a property's description: its docstring without the word "Return"."""
    text = docstring.removeprefix("Return ")
    return text[:1].upper() + text[1:]


def _signature(function: Callable[..., Any], name: str) -> tuple[str, list[str], str]:
    """Return a function's name, arguments and result, as in its source.

    The names of generators (context managers) begin with `with`. The overload with the most
    parameters is used.
    """
    overloads = get_overloads(function) or [function]
    chosen = max(overloads, key=lambda one: len(inspect.signature(one).parameters))
    source = textwrap.dedent(inspect.getsource(inspect.unwrap(chosen)))
    node = ast.parse(source).body[0]
    assert isinstance(node, ast.FunctionDef)
    result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    if inspect.isgeneratorfunction(inspect.unwrap(chosen)):
        return f"with {name}", _arguments(node.args), ""
    return name, _arguments(node.args), result.replace("'", "").replace('"', "")


def _arguments(given: ast.arguments) -> list[str]:
    """Return each argument with its annotation and default, without `self`."""
    plain = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(plain) - len(given.defaults)) + list(given.defaults)
    found = [_argument(one, default) for one, default in zip(plain, defaults, strict=True)]
    if given.posonlyargs:
        found.insert(len(given.posonlyargs), "/")
    if given.vararg or given.kwonlyargs:
        found.append(f"*{_argument(given.vararg, None) if given.vararg else ''}")
    found += [
        _argument(one, default)
        for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    if given.kwarg:
        found.append(f"**{_argument(given.kwarg, None)}")
    return [one for one in found if one != "self"]


def _argument(one: ast.arg, default: ast.expr | None) -> str:
    name = f"{one.arg}: {ast.unparse(one.annotation)}" if one.annotation else one.arg
    if default is None:
        return name
    return f"{name} = {ast.unparse(default)}" if one.annotation else f"{name}={default}"


def _one_line(signature: tuple[str, list[str], str]) -> str:
    name, arguments, result = signature
    return f"{name}({', '.join(arguments)}){result}"


def _code(signature: tuple[str, list[str], str]) -> str:
    name, arguments, result = signature
    text = _one_line(signature)
    if len(text) > LINE:
        text = "\n".join([f"{name}(", *(f"    {one}," for one in arguments), f"){result}"])
    return f"```python\n{text}\n```\n\n"


def _doc(value: Any) -> str:
    return inspect.getdoc(value) or ""


def _first(value: Any) -> str:
    """Return the first paragraph of a docstring, in one line."""
    return " ".join(_doc(value).split("\n\n")[0].split()).replace("|", "\\|")
