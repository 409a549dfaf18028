"""Compile one expression: find its references, and postpone costly work to its first evaluation.

Plain paths are resolved directly. Jinja2 parses every other expression immediately, to find
mistakes, and compiles it to Python at the first evaluation, so that compiling a graph is cheap.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from threading import Lock
from typing import Any

from jinja2 import TemplateError as JinjaError
from jinja2 import TemplateSyntaxError, nodes
from jinja2.parser import Parser

from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.errors import (
    ExpressionSyntaxError,
    OutOfTime,
    TemplateError,
    TemplateTimeout,
    quoted,
)
from executions.definition.templating.paths import Keys, path_evaluator, plain_path
from executions.definition.templating.sandbox import ENVIRONMENT, FUNCTIONS, ScopeContext, rewritten
from executions.definition.templating.secrets import (
    ROOT,
    SecretField,
    refuse_in_expression,
    secret_evaluator,
    secret_of,
)
from executions.definition.templating.syntax import check_syntax, refuse_unfinished
from executions.definition.templating.values import UnusableValue, as_json

Reference = tuple[str, ...]
Scope = Mapping[str, Any]
Evaluate = Callable[[Scope, RenderBudget], Any]

MAX_SOURCE = 10_000
MAX_TOKENS = 1_000  # compiling takes about 60 µs per token, once in each process
MAX_REASON = 500  # characters of a library's message, which may contain a value
EXPRESSION_WORK = 100  # units of an expression that is more than a path

# Number of a path's elements that determine what is read: `tasks.a.output.rows` reads
# `tasks.a.output`.
_REFERENCE_LENGTH = {"tasks": 3, "vars": 2, "execution": 2, "loop": 2}

_EVALUATION_ERRORS = (
    JinjaError,
    UnusableValue,
    TypeError,
    ValueError,
    ArithmeticError,
    LookupError,
    AttributeError,
    RecursionError,
    MemoryError,
)

_COMPILING = Lock()

# A string, a word or a sign, which is about one token of Jinja.
_TOKEN = re.compile(r""""(?:\\.|[^"\\])*+"?|'(?:\\.|[^'\\])*+'?|\w++|[^\w\s]""", re.DOTALL)


class Expression:
    """An expression and its references; `evaluate` raises TemplateError.

    `secret` is the secret that it names, if any.
    """

    __slots__ = ("evaluate", "references", "secret", "source")

    def __init__(
        self,
        source: str,
        references: frozenset[Reference],
        evaluate: Evaluate,
        secret: SecretField | None = None,
    ) -> None:
        self.source = source
        self.references = references
        self.evaluate = evaluate
        self.secret = secret


@lru_cache(maxsize=8192)
def compile_expression(source: str) -> Expression:
    """Compile the text between the braces. Raises ExpressionSyntaxError."""
    keys = plain_path(source)
    if keys is not None and keys[0] == ROOT:
        secret = secret_of(keys)
        return Expression(source, frozenset({(ROOT, *secret)}), secret_evaluator(secret), secret)
    if keys is not None:
        return Expression(source, frozenset({_reference(keys)}), path_evaluator(keys))
    tree = parse(source)
    paths = check_syntax(tree)
    refuse_unfinished(tree)
    references = frozenset(_reference(keys) for keys in paths if keys[0] not in FUNCTIONS)
    if any(root == ROOT for root, *_ in references):
        raise refuse_in_expression()
    return Expression(source, references, _LateEvaluator(rewritten(tree)))


def _reference(keys: tuple[str | int, ...]) -> Reference:
    """Return the leading names of a path, which identify the value that it reads."""
    names = []
    for key in keys[: _REFERENCE_LENGTH.get(str(keys[0]), 1)]:
        if not isinstance(key, str):
            break
        names.append(key)
    return tuple(names)


def parse(source: str) -> nodes.Expr:
    """Return the syntax tree of an expression's text. Raises ExpressionSyntaxError."""
    if not source:
        raise ExpressionSyntaxError("template_syntax", "the expression between {{ and }} is empty")
    if len(source) > MAX_SOURCE:
        raise ExpressionSyntaxError(
            "template_too_complex", f"an expression may have at most {MAX_SOURCE:,} characters"
        )
    if sum(1 for _ in _TOKEN.finditer(source)) > MAX_TOKENS:
        raise ExpressionSyntaxError(
            "template_too_complex",
            f"an expression may have at most {MAX_TOKENS:,} names, values and operators; "
            "store tables in the workflow's variables",
        )
    try:
        parser = Parser(ENVIRONMENT, source, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            found = parser.stream.current.value
            raise ExpressionSyntaxError(
                "template_syntax", f'the expression should end before "{found}"'
            )
        return tree
    except TemplateSyntaxError as error:
        message = (error.message or "").replace(
            "unexpected 'end of template'", "the expression ends too early"
        )
        raise ExpressionSyntaxError("template_syntax", message) from None
    except RecursionError:
        raise ExpressionSyntaxError(
            "template_too_complex", "the expression is nested too deeply"
        ) from None
    except ValueError as error:
        raise ExpressionSyntaxError(
            "template_syntax", f"a number cannot be read: {error}"
        ) from None


class _LateEvaluator:
    """Evaluates an expression with code that Jinja2 compiles at the first call; thread-safe."""

    __slots__ = ("_render", "_tree")

    def __init__(self, tree: nodes.Expr) -> None:
        self._tree: nodes.Expr | None = tree
        self._render: Callable[[Any], Any] | None = None

    def __call__(self, scope: Scope, budget: RenderBudget) -> Any:
        try:
            render = self._render or self._compile()
            budget.spend(EXPRESSION_WORK)
            context = ScopeContext(ENVIRONMENT, scope, None, {})  # type: ignore[arg-type]
            context.budget = budget
            for _ in render(context):
                pass
            return as_json(budget, context.vars["result"])
        except OutOfTime as error:
            raise TemplateTimeout(str(error)) from error
        except _EVALUATION_ERRORS as error:
            raise TemplateError(_reason(error)) from error

    def _compile(self) -> Callable[[Any], Any]:
        tree = self._tree
        if tree is not None:
            # Generating code changes the tree, so only one thread may do it.
            with _COMPILING:
                if self._render is None:
                    assign = nodes.Assign(nodes.Name("result", "store"), tree, lineno=1)
                    document = nodes.Template([assign], lineno=1)
                    document.set_environment(ENVIRONMENT)
                    self._render = ENVIRONMENT.from_string(document).root_render_func
                    self._tree = None
        assert self._render is not None
        return self._render


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "the expression is nested too deeply"
    if isinstance(error, MemoryError):
        return "the expression needs too much memory"
    return quoted(str(error), MAX_REASON) or type(error).__name__


# The full paths that an expression certainly reads; they can be longer than its references.
#
# A path whose absence the expression handles (`default`, `is defined`, a choice) is not included,
# and a method that it calls is not included.


PROVIDES = frozenset({"default", "d", "defined", "undefined", "none"})
CHOICES = (nodes.CondExpr, nodes.And, nodes.Or, nodes.Call, nodes.Not)


def certain_paths(source: str) -> list[Keys]:
    """Return the paths an expression always reads; [] for conditions, calls, defaults or errors."""
    keys = plain_path(source)
    if keys is not None:
        return [keys]
    try:
        tree = parse(source)
        found = check_syntax(tree)
    except ExpressionSyntaxError:
        return []
    everything = [tree, *tree.find_all(nodes.Node)]
    return [] if any(_unsure(node) for node in everything) else found


def _unsure(node: nodes.Node) -> bool:
    if isinstance(node, nodes.Filter | nodes.Test):
        return node.name in PROVIDES
    return isinstance(node, CHOICES)
