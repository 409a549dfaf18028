"""Templates: JSON values whose strings may contain `{{ expressions }}`, compiled once.

A string that is exactly one expression renders to the value with its type; other strings render to
text. The result depends only on the text and the scope, not on a clock or randomness.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from executions.definition.templating import render_guard
from executions.definition.templating.budget import WEB, WORKER, RenderBudget
from executions.definition.templating.errors import (
    ExpressionSyntaxError,
    OutOfTime,
    Pointer,
    TemplateError,
    TemplateSyntaxProblem,
    TemplateSyntaxProblems,
    TemplateTimeout,
    TooLarge,
    key_path,
    quoted,
)
from executions.definition.templating.expression import (
    Expression,
    Reference,
    Scope,
    compile_expression,
)
from executions.definition.templating.secrets import SealedText, SecretField
from executions.definition.templating.values import UnusableValue, as_text, bounded_text

# Split a string into plain text and the expressions between `{{` and `}}`.
#
# Text is kept byte for byte. Brackets and quotes inside an expression may contain `}}`.


_OPEN = re.compile(r"\{\{|\{%")
# An unclosed string extends to the end, so that no part of it is scanned twice.
_TOKEN = re.compile(
    r""""(?:\\.|[^"\\])*(?:"|\\?\Z)|'(?:\\.|[^'\\])*(?:'|\\?\Z)|(?P<close>-?\}\})|(?P<up>[({\[])|(?P<down>[)}\]])""",
    re.DOTALL,
)
_UP_OF = {")": "(", "}": "{", "]": "["}

MAX_BRACKETS = 40


@dataclass(frozen=True, slots=True)
class ExpressionText:
    """The text of one expression, without its braces."""

    source: str


Part = str | ExpressionText


def has_template(text: str) -> bool:
    """Return whether the string contains `{{` or `{%`, with which templates begin."""
    return "{{" in text or "{%" in text


def split(text: str) -> list[Part]:
    """Split `text` into its parts. Raises ExpressionSyntaxError for statements and faulty brackets.

    As in Jinja, `{{-` removes white space before the expression, and `-}}` after it.
    """
    parts: list[Part] = []
    position = 0
    trim_next = False
    while (opening := _OPEN.search(text, position)) is not None:
        if opening.group() == "{%":
            raise ExpressionSyntaxError(
                "template_statement",
                "statements ({% … %}) are not available in templates, only expressions "
                'in {{ … }}; write {{ "{%" }} for the two characters themselves',
            )
        literal = text[position : opening.start()]
        start, end, position = _expression(text, opening.end())
        trim_before = text.startswith("-", start)
        parts.append(_trimmed(literal, left=trim_next, right=trim_before))
        parts.append(ExpressionText(text[start + trim_before : end].strip()))
        trim_next = text.startswith("-", end)
    parts.append(_trimmed(text[position:], left=trim_next, right=False))
    return [part for part in parts if part != ""]


def _trimmed(literal: str, *, left: bool, right: bool) -> str:
    literal = literal.lstrip() if left else literal
    return literal.rstrip() if right else literal


def _expression(text: str, start: int) -> tuple[int, int, int]:
    """Return the start and end of an expression, and the start of the text after its braces."""
    brackets: list[str] = []
    position = start
    while (token := _TOKEN.search(text, position)) is not None:
        position = token.end()
        if token["up"]:
            brackets.append(token["up"])
            if len(brackets) > MAX_BRACKETS:
                raise ExpressionSyntaxError(
                    "template_too_complex",
                    f"brackets are nested more than {MAX_BRACKETS} deep; split the expression",
                )
        elif token["close"] and not brackets:
            return start, token.start(), token.end()
        elif token["down"] or token["close"]:
            # Inside brackets, `}}` is two closing braces, not the end: take one at a time.
            closing = token["down"] or "}"
            if token["close"]:
                position = token.start() + token.group().index("}") + 1
            if not brackets or brackets.pop() != _UP_OF[closing]:
                raise ExpressionSyntaxError(
                    "template_syntax", f'"{closing}" closes no open bracket'
                )
    raise ExpressionSyntaxError(
        "template_syntax", "{{ is not closed; expected }} after the expression"
    )


__all__ = [
    "WEB",
    "WORKER",
    "RenderBudget",
    "Template",
    "TemplateError",
    "TemplateSyntaxProblem",
    "TemplateSyntaxProblems",
    "TemplateTimeout",
    "compile_expression",
    "compile_template",
    "has_template",
    "inspect_template",
    "one_expression",
]

MAX_NESTING = 64

_NONE = RenderBudget()  # for constants, which spend nothing

Render = Callable[[Scope, RenderBudget], Any]
LocatedReference = tuple[Pointer, Reference]


class Template:
    """A compiled value.

    `references` are the leading names that its expressions read, such as `("vars", "carrier")` or
    `("tasks", "a", "output")`; `located` pairs each with its position in the value. `sealed` are
    the strings that name secrets: for each, its position, its renderer, and the secrets.
    """

    __slots__ = ("_render", "constant", "located", "references", "sealed")

    def __init__(
        self,
        render: Render,
        located: tuple[LocatedReference, ...],
        constant: bool,
        sealed: tuple[SealedText, ...] = (),
    ):
        self._render = render
        self.located = located
        self.references = frozenset(reference for _, reference in located)
        self.constant = constant
        self.sealed = sealed

    @property
    def secrets(self) -> frozenset[SecretField]:
        """Return all secrets that the template names, as pairs of a credential and a field."""
        return frozenset(secret for _, _, named in self.sealed for secret in named)

    def render(self, scope: Mapping[str, Any], budget: RenderBudget | None = None) -> Any:
        """Return the value with every expression replaced. Raises TemplateError.

        All expressions share one budget: the given one, or this process's default. When its time is
        over, the method raises TemplateTimeout, a TemplateError.

        Objects and lists of the template are new at each call. Values from the scope may be passed
        on without a copy: treat them as read-only. Raises RenderedInRequest if the current request
        may not render templates (`render_guard`).
        """
        if not self.constant:
            render_guard.check()
        if budget is None:
            budget = _NONE if self.constant else RenderBudget()
        return self._render(scope, budget)


def compile_template(value: Any) -> Template:
    """Compile a JSON value. Raises TemplateSyntaxProblems with every problem in it."""
    template, problems = inspect_template(value)
    if problems:
        raise TemplateSyntaxProblems(problems)
    return template


def inspect_template(value: Any) -> tuple[Template, list[TemplateSyntaxProblem]]:
    """Return the template of all valid parts, and the problems of the invalid parts."""
    compiler = _Compiler()
    render = compiler.compile(value, ())
    template = Template(
        render or (lambda scope, budget: value),
        tuple(compiler.located),
        compiler.expressions == 0,
        tuple(compiler.sealed),
    )
    return template, compiler.problems


def one_expression(text: str) -> bool:
    """Return whether a string is exactly one expression, whose result is not converted to text.

    The result is also True for an invalid string, whose problems `inspect_template` returns.
    """
    try:
        parts = split(text)
    except ExpressionSyntaxError:
        return True
    return len(parts) == 1 and isinstance(parts[0], ExpressionText)


class _Compiler:
    """Turns nested values into nested functions; None means a constant that is not a container.

    Containers always get a function, so that two results never share a list or object.
    """

    def __init__(self) -> None:
        self.located: list[LocatedReference] = []
        self.problems: list[TemplateSyntaxProblem] = []
        self.sealed: list[SealedText] = []
        self.expressions = 0

    def compile(self, value: Any, pointer: Pointer) -> Render | None:
        if isinstance(value, str):
            return self._text(value, pointer) if has_template(value) else None
        if not isinstance(value, (dict, list)):
            return None
        if len(pointer) >= MAX_NESTING:
            self._refuse(
                pointer, "too_deep", (f"the value is nested more than {MAX_NESTING} levels deep")
            )
            return None
        keys = value.items() if isinstance(value, dict) else enumerate(value)
        moving = []
        for key, item in keys:
            self._check_key(key, pointer)
            render = self.compile(item, (*pointer, key))
            if render is not None:
                moving.append((key, render))
        return _filled(value, moving)

    def _check_key(self, key: str | int, pointer: Pointer) -> None:
        if isinstance(key, str) and has_template(key):
            message = f'"{quoted(key)}" is a key; only values may hold templates'
            self._refuse((*pointer, key), "template_in_key", message)

    def _text(self, text: str, pointer: Pointer) -> Render | None:
        parts = self._parts(text, pointer)
        expressions = [part for part in parts if isinstance(part, Expression)]
        self.expressions += len(expressions)
        for expression in expressions:
            self.located += [(pointer, reference) for reference in sorted(expression.references)]
        where = f'template "{quoted(text)}"' + (f" at {key_path(pointer)}" if pointer else "")
        alone = len(parts) == 1 and expressions
        render = _value(expressions[0], where) if alone else _joined(parts, where)
        secrets = frozenset(one.secret for one in expressions if one.secret is not None)
        if secrets:
            self.sealed.append((pointer, render, secrets))
        return render

    def _parts(self, text: str, pointer: Pointer) -> list[str | Expression]:
        """Return a string's parts ("" for an invalid one), or [] if it cannot be split."""
        parts: list[str | Expression] = []
        try:
            parts += [
                part if isinstance(part, str) else self._part(part, text, pointer)
                for part in split(text)
            ]
        except ExpressionSyntaxError as error:
            self._refuse(pointer, error.code, f'template "{quoted(text)}": {error}')
        return parts

    def _part(self, part: ExpressionText, text: str, pointer: Pointer) -> str | Expression:
        try:
            return compile_expression(part.source)
        except ExpressionSyntaxError as error:
            self._refuse(pointer, error.code, f'template "{quoted(text)}": {error}')
            return ""

    def _refuse(self, pointer: Pointer, code: str, message: str) -> None:
        self.problems.append(TemplateSyntaxProblem(pointer, code, message))


def _filled(base: Any, moving: list[tuple[Any, Render]]) -> Render:
    def render(scope: Scope, budget: RenderBudget) -> Any:
        filled = base.copy()
        for key, part in moving:
            filled[key] = part(scope, budget)
        return filled

    return render


def _value(expression: Expression, where: str) -> Render:
    evaluate = expression.evaluate

    def render(scope: Scope, budget: RenderBudget) -> Any:
        try:
            return evaluate(scope, budget)
        except TemplateError as error:
            raise type(error)(f"{where}: {error}") from error.__cause__

    return render


def _joined(parts: list[str | Expression], where: str) -> Render:
    def render(scope: Scope, budget: RenderBudget) -> str:
        try:
            texts = []
            length = 0
            for part in parts:
                text = (
                    part if isinstance(part, str) else as_text(budget, part.evaluate(scope, budget))
                )
                length += len(text)
                bounded_text(length)
                texts.append(text)
            budget.hold(length)
            return "".join(texts)
        except TemplateError as error:
            raise type(error)(f"{where}: {error}") from error.__cause__
        except OutOfTime as error:
            raise TemplateTimeout(f"{where}: {error}") from error
        except (UnusableValue, TooLarge) as error:
            raise TemplateError(f"{where}: {error}") from error

    return render
