"""Templates: JSON values whose strings may hold `{{ expressions }}`, compiled once, rendered often.

A string that is exactly one expression yields the value with its type; other text is joined.
What a template yields depends on its text and the scope alone: no clock, no randomness.
"""

from collections.abc import Callable, Mapping
from typing import Any

from executions.definition.templating import refusal
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
from executions.definition.templating.sizes import bounded_text
from executions.definition.templating.splitting import ExpressionText, has_template, split
from executions.definition.templating.values import UnusableValue, as_text

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

_NONE = RenderBudget()  # a constant spends nothing of it

Render = Callable[[Scope, RenderBudget], Any]
LocatedReference = tuple[Pointer, Reference]


class Template:
    """A compiled value.

    `references` are the leading names its expressions read, such as `("tasks", "a", "output")`,
    `("vars", "carrier")`, `("input",)`; `located` pairs each with where it stands in the value.
    `sealed` are the texts that name secrets: where each stands, how to render it, which it names.
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
        """Every secret that is named."""
        return frozenset(secret for _, _, named in self.sealed for secret in named)

    def render(self, scope: Mapping[str, Any], budget: RenderBudget | None = None) -> Any:
        """The value with every expression replaced; raises TemplateError.

        All expressions together spend one budget: the given one, or what this kind of process
        allows. Raises TemplateTimeout, a TemplateError, where its time is over.

        Objects and lists of the template are new at each call. Values out of the scope are
        passed on, not copied: treat them as read-only. Raises RenderedInRequest while a request is
        answered (`refusal`).
        """
        if not self.constant:
            refusal.check()
        if budget is None:
            budget = _NONE if self.constant else RenderBudget()
        return self._render(scope, budget)


def compile_template(value: Any) -> Template:
    """Compile a JSON value; raises TemplateSyntaxProblems with every mistake in it."""
    template, problems = inspect_template(value)
    if problems:
        raise TemplateSyntaxProblems(problems)
    return template


def inspect_template(value: Any) -> tuple[Template, list[TemplateSyntaxProblem]]:
    """The template of all that can be compiled, and the mistakes in the rest."""
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
    """Whether a text is exactly one expression, so that what it yields keeps its type.

    True also where the text cannot be taken apart: `inspect_template` says what is wrong with it.
    """
    try:
        parts = split(text)
    except ExpressionSyntaxError:
        return True
    return len(parts) == 1 and isinstance(parts[0], ExpressionText)


class _Compiler:
    """Turns nested values into nested functions; None stands for a constant that is no container.

    Containers always get a function, so that no two renderings share one.
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
            self._refuse(pointer, "too_deep", f"the value is nested more than {MAX_NESTING} deep")
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
        """The parts of a string, without those that cannot be compiled."""
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
