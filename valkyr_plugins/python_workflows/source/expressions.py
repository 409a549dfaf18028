"""Templates as Python over handles: `{{ tasks.paid.output.number }}` is `paid.number`.

Paths, comparisons and arithmetic are converted if the handle's own template is equivalent; all
other templates remain text.
"""

import ast
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from valkyr_plugins.python_workflows.source.literals import Source
from valkyr_plugins.python_workflows.tracing.handles import HandleFacts, ValueHandle, facts_of
from valkyr_plugins.python_workflows.tracing.places import TracingError

_TEMPLATE = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_BINARY: Mapping[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
Written = tuple[ast.expr, Any]


class _RawTemplateError(Exception):
    """A template cannot be written in Python, so it is kept as text."""


@dataclass(slots=True)
class KnownNames:
    """The Python names that replace the roots of templates and the results of tasks.

    `task` returns the Python name for a task's id, or "" if the id has no name here.
    """

    roots: Mapping[str, str]
    task: Callable[[str], str]

    def shown(self, value: Any) -> Any:
        """Return a JSON value with source in place of the templates that can be converted."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, Mapping):
            return {key: self.shown(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.shown(one) for one in value]
        return value

    def _text(self, text: str) -> str:
        parts = _TEMPLATE.split(text)  # text and templates alternate in this list
        if len(parts) == 1 or "{%" in text or "{#" in text:
            return text
        try:
            found = [self._expression(one) for one in parts[1::2]]
        except (_RawTemplateError, TracingError, SyntaxError, ValueError):
            return text
        if len(parts) == 3 and not parts[0].strip() and not parts[2].strip():
            return Source(found[0]) if parts[0] == parts[2] == "" else text
        return _formatted(parts[::2], found) or text

    def _expression(self, inner: str) -> str:
        tree = ast.parse(inner.strip(), mode="eval").body
        node, handle = self._value(tree)
        facts = facts_of(handle)
        # If both are equal except for spaces, quotes and parentheses, they are the same expression.
        if facts is None or ast.dump(ast.parse(facts.source, mode="eval").body) != ast.dump(tree):
            raise _RawTemplateError
        return ast.unparse(node)

    def _value(self, node: ast.expr) -> Written:
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float | str):
            return node, node.value
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._pair(node.left, node.ops[0], node.comparators[0], node)
        if isinstance(node, ast.BinOp):
            return self._pair(node.left, node.op, node.right, node)
        return self._path(node)

    def _pair(self, left: ast.expr, sign: ast.AST, right: ast.expr, node: ast.expr) -> Written:
        operate = _BINARY.get(type(sign))
        (one, first), (other, second) = self._value(left), self._value(right)
        if operate is None or (facts_of(first) is None and facts_of(second) is None):
            raise _RawTemplateError
        made: ast.expr = (
            ast.Compare(one, node.ops, [other])
            if isinstance(node, ast.Compare)
            else ast.BinOp(one, sign, other)  # type: ignore[arg-type]
        )
        return made, operate(first, second)

    def _path(self, node: ast.expr) -> Written:
        if (root := self._root(node)) is not None:
            return root
        if isinstance(node, ast.Attribute) and not node.attr.startswith("_"):
            owner, handle = self._path(node.value)
            return ast.Attribute(owner, node.attr), getattr(handle, node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            owner, handle = self._path(node.value)
            return ast.Subscript(owner, node.slice), handle[node.slice.value]
        raise _RawTemplateError

    def _root(self, node: ast.expr) -> Written | None:
        """Return the source and handle of a root or a task's output; None if it has no name."""
        text = ast.unparse(node)
        name = self.roots.get(text, "")
        if text.startswith("tasks.") and text.endswith(".output"):
            name = self.task(text.removeprefix("tasks.").removesuffix(".output"))
        return (ast.Name(name), ValueHandle(HandleFacts(text))) if name else None


def _formatted(texts: list[str], found: list[str]) -> Source | None:
    """Return an f-string; None if the quotes or escapes of its parts prevent it."""
    if any(mark in one for one in [*texts, *found] for mark in ('"', "\\", "\n")):
        return None
    if any("'" in one for one in found):
        return None
    escaped = [one.replace("{", "{{").replace("}", "}}") for one in texts]
    inner = "".join(f"{text}{{{one}}}" for text, one in zip(escaped, [*found, ""], strict=True))
    return Source(f'f"{inner.removesuffix("{}")}"')
