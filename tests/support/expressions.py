"""Templates rendered by plain Jinja2: the oracle's own interpretation, which shares no code with
the engine's.

It supports only what tests write in control positions and inputs: JSON values whose strings are
text or exactly one `{{ expression }}`.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.environment import TemplateExpression
from jinja2.sandbox import SandboxedEnvironment

FALSE = frozenset({"", "false", "0", "no", "off", "null", "none"})
ROOTS = ("input", "vars", "tasks", "previous", "loop", "item", "index", "event", "execution")

_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined)
_WHOLE = re.compile(r"\s*\{\{(.*)\}\}\s*", re.DOTALL)


class Unrenderable(Exception):
    """A template fails: a name or key is missing, or an operation is invalid."""


class Unknowable(Exception):
    """A template reads a value that only the execution itself knew at that moment."""


def render(value: Any, scope: Mapping[str, Any]) -> Any:
    """Return the value with each expression replaced. Raise Unrenderable or Unknowable."""
    if isinstance(value, dict):
        return {key: render(item, scope) for key, item in value.items()}
    if isinstance(value, list):
        return [render(item, scope) for item in value]
    if not isinstance(value, str) or "{{" not in value:
        return value
    whole = _WHOLE.fullmatch(value)
    if whole is None or "{{" in whole[1]:
        raise Unknowable(f"a mixed text: {value}")
    return _evaluate(whole[1], scope)


def truth(value: Any) -> bool:
    """Return whether a condition is true, as `flow.if` documents it."""
    return value.strip().lower() not in FALSE if isinstance(value, str) else bool(value)


def _evaluate(text: str, scope: Mapping[str, Any]) -> Any:
    missing = _roots(text) - scope.keys()
    if missing:
        raise Unknowable(f"{', '.join(missing)} in {text}")
    try:
        found = _compiled(text)(**scope)
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise Unrenderable(f"{text}: {error}") from error
    if isinstance(found, StrictUndefined):
        raise Unrenderable(text)
    return list(found) if isinstance(found, range | tuple) else found


@lru_cache(maxsize=4096)
def _roots(text: str) -> frozenset[str]:
    """Return the names of the scope that begin a path of an expression."""
    return frozenset(root for root in ROOTS if re.search(rf"(?<![.\w'\"]){root}\b", text))


@lru_cache(maxsize=4096)
def _compiled(text: str) -> TemplateExpression:
    return _ENVIRONMENT.compile_expression(text, undefined_to_none=False)
