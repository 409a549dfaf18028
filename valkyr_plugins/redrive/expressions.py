"""The expression that gives each entry its merge patch, in the language of the templates.

It is written with or without the braces around it: `{"to": inputs.to | lower}`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from executions.public.definitions import DefinitionProblem
from executions.public.templates import Template, TemplateError, inspect_template, one_expression

NAMES = ("inputs", "error", "attempts", "entry")


class Unusable(Exception):
    """For this entry the expression gives no patch; the message says why."""


def problems(text: str) -> Iterator[DefinitionProblem]:
    """What is wrong with an expression's text."""
    braced = _braced(text)
    if not one_expression(braced):
        yield DefinitionProblem(
            "expression", "one_expression", "Expected one expression and nothing else."
        )
        return
    template, found = inspect_template(braced)
    for problem in found:
        yield DefinitionProblem("expression", problem.code, problem.message)
    for root in sorted({reference[0] for reference in template.references} - set(NAMES)):
        text = f"{root!r} is not known here; there are: {', '.join(NAMES)}."
        yield DefinitionProblem("expression", "unknown_name", text)


def compiled(text: str) -> Template:
    """The expression of a text that has no `problems`."""
    return inspect_template(_braced(text))[0]


def patch(template: Template, scope: Mapping[str, Any]) -> dict[str, Any]:
    """What the expression makes of one entry; raises Unusable."""
    try:
        found = template.render(scope)
    except TemplateError as error:
        raise Unusable(f"The expression cannot be evaluated: {error}") from error
    if not isinstance(found, dict):
        kind = "null" if found is None else type(found).__name__
        raise Unusable(f"The expression gives {kind}; expected an object, a merge patch of inputs.")
    return found


def _braced(text: str) -> str:
    text = text.strip()
    return text if text.startswith("{{") and text.endswith("}}") else f"{{{{ {text} }}}}"
