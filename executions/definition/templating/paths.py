"""Read plain paths (`tasks.a.output.rows[0].id`) without Jinja: most renderings need only this."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.errors import TemplateError, quoted

Keys = tuple[str | int, ...]

_PATH = re.compile(
    r"""[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[-?\d{1,9}\]|\["[^"\\]*"\]|\['[^'\\]*'\])*""", re.ASCII
)
_KEY = re.compile(r"""([A-Za-z_]\w*)|\[(-?\d+)\]|\["([^"]*)"\]|\['([^']*)'\]""", re.ASCII)
_WORDS = frozenset({"true", "false", "none", "True", "False", "None", "not", "and", "or", "in"})
_WORDS |= {"is", "if", "else"}

SHOWN_KEYS = 10


def plain_path(source: str) -> Keys | None:
    """Return the keys of an expression that is only a path; None for other expressions."""
    if _PATH.fullmatch(source) is None:
        return None
    keys: list[str | int] = []
    for name, index, double, single in _KEY.findall(source):
        keys.append(int(index) if index else name or double or single)
    return None if keys[0] in _WORDS else tuple(keys)


def path_evaluator(keys: Keys) -> Callable[[Mapping[str, Any], RenderBudget], Any]:
    """Return a function that reads the value at `keys` from a scope, or raises TemplateError."""
    root, rest = str(keys[0]), keys[1:]

    def evaluate(scope: Mapping[str, Any], _: RenderBudget) -> Any:
        try:
            value = scope[root]
            for key in rest:
                value = value[key]
        except (KeyError, IndexError, TypeError):
            raise TemplateError(_missing(scope, keys)) from None
        return value

    return evaluate


def path_text(keys: Keys) -> str:
    """Return a path's keys as template text, such as `tasks.a.output[0]`."""
    text = str(keys[0])
    for key in keys[1:]:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if key.isidentifier() else f'["{key}"]'
    return text


def _missing(scope: Mapping[str, Any], keys: Keys) -> str:
    value: Any = scope
    for depth, key in enumerate(keys):
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            if depth == 0:
                return f'"{key}" is not available here'
            return f'"{path_text(keys[:depth])}" {lacks(value, key)}'
    return f'"{path_text(keys)}" cannot be read'


def lacks(value: Any, key: str | int) -> str:
    """Return the reason why `value` has no `key`.

    The text continues a sentence that begins with the value's name.
    """
    key = quoted(key) if isinstance(key, str) else key
    if value is None:
        return f'is null and has no "{key}"'
    if isinstance(value, Mapping):
        return f'has no key "{key}"; {_known(value)}'
    if isinstance(value, list) and isinstance(key, int):
        return f"has {len(value)} items, but none at {key}"
    return f'is {kind(value)} and has no "{key}"'


def _known(value: Mapping[Any, Any]) -> str:
    if not value:
        return "it is empty"
    names = [f'"{quoted(str(name))}"' for name, _ in zip(value, range(SHOWN_KEYS), strict=False)]
    more = ", …" if len(value) > SHOWN_KEYS else ""
    return f"it has {', '.join(names)}{more}"


def kind(value: Any) -> str:
    """Return a JSON value's type in words, such as `text`, `a number` or `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (list, tuple)):
        return "a list"
    return "an object" if isinstance(value, Mapping) else f"a Python {type(value).__name__}"
