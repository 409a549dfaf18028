"""`secrets.<name>` in a template: a reference is stored, and the value exists only in memory.

A secret is always a whole expression, so that no filter or comparison sees its value. The same text
can therefore be rendered twice, with references and with values, and the results differ only in the
secrets' places. So no payload can pass as a secret.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Any

from executions.definition.templating import render_guard
from executions.definition.templating.budget import RenderBudget
from executions.definition.templating.errors import ExpressionSyntaxError, Pointer, TemplateError

ROOT = "secrets"
VALUE = "value"  # the only field of a plain secret

SecretField = tuple[str, str]  # a credential's name, a field's name
Values = Mapping[SecretField, str]
Scope = Mapping[str, Any]
Place = list[Any]  # [pointer as a list, [[index, name, field], …]], as JSON stores it
SealedText = tuple[Pointer, Callable[[Scope, RenderBudget], Any], frozenset[SecretField]]

_NAME = re.compile(r"[a-z][a-z0-9_]{0,79}")


def reference(secret: SecretField) -> str:
    """Return the text that is stored, hashed and shown in place of the secret.

    An example is `[secret:shop.password]`.
    """
    name, field = secret
    return f"[secret:{name}]" if field == VALUE else f"[secret:{name}.{field}]"


class _References(dict[SecretField, str]):
    """Maps any secret to its reference."""

    def __missing__(self, secret: SecretField) -> str:
        return reference(secret)


REFERENCES: Values = _References()


def secret_of(keys: tuple[str | int, ...]) -> SecretField:
    """Return the secret of a path that begins with `secrets`. Raises ExpressionSyntaxError."""
    name, field = (*keys[1:], VALUE)[:2] if len(keys) > 1 else ("", "")
    if len(keys) > 3 or not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ExpressionSyntaxError(
            "secret_name",
            "a secret is written secrets.<name> or secrets.<name>.<field>; a name begins with "
            "a lower-case letter, followed by lower-case letters, digits and _",
        )
    if not (isinstance(field, str) and _NAME.fullmatch(field)):
        raise ExpressionSyntaxError(
            "secret_name", f"secrets.{name} may only be followed by the name of a field"
        )
    return name, field


def refuse_in_expression() -> ExpressionSyntaxError:
    """Return the error for a secret inside a larger expression."""
    return ExpressionSyntaxError(
        "secret_in_expression",
        "only a secret may be between {{ and }}, without filters, operators or functions; "
        "other text may surround the braces: Bearer {{ secrets.shop_key }}",
    )


def secret_evaluator(secret: SecretField) -> Callable[[Scope, RenderBudget], str]:
    """Return a function that takes a scope and returns the secret's value or its reference."""

    def evaluate(scope: Scope, _: RenderBudget) -> str:
        try:
            text: str = scope[ROOT][secret]
        except KeyError:
            raise TemplateError(f'"{ROOT}" is not available here') from None
        return text

    return evaluate


def reveal(
    texts: tuple[SealedText, ...],
    value: Any,
    scope: Scope,
    values: Values,
    budget: RenderBudget | None = None,
) -> tuple[Any, list[Pointer]]:
    """Return `value`, as a template rendered it, with secrets in place of their references.

    Also returns the pointers of the strings that were left unchanged, because a user edited them
    and they differ from the template's result. `value` itself is not changed.
    """
    render_guard.check()
    with_references, with_values = {**scope, ROOT: REFERENCES}, {**scope, ROOT: values}
    budget = budget or RenderBudget()
    left = []
    for pointer, render, _ in texts:
        if at(value, pointer) == render(with_references, budget):
            value = _put(value, pointer, render(with_values, budget))
        else:
            left.append(pointer)
    return value, left


def places(
    texts: tuple[SealedText, ...], value: Any, scope: Scope, budget: RenderBudget | None = None
) -> tuple[list[Place], list[Pointer]]:
    """Return the places of secrets in `value`, as a template rendered it, for `fill`.

    A place is a pointer to a string and, for each secret in it, the index of its reference, the
    credential and the field. Also returns the pointers of strings without places, which a user
    edited, so that they differ from the template's result.
    """
    render_guard.check()
    budget = budget or RenderBudget()
    found: list[Place] = []
    left: list[Pointer] = []
    for pointer, render, named in texts:
        if at(value, pointer) != render({**scope, ROOT: REFERENCES}, budget):
            left.append(pointer)
            continue
        # The markers cannot be guessed, so no other part of the text can be mistaken for one.
        nonce, order = token_hex(16), sorted(named)
        marks = {secret: f"{nonce}{number}." for number, secret in enumerate(order)}
        parts = re.split(rf"{nonce}(\d+)\.", render({**scope, ROOT: marks}, budget))
        here: list[Any] = []
        index = 0
        for text, number in zip(parts[::2], [*parts[1::2], None], strict=True):
            index += len(text)
            if number is not None:
                secret = order[int(number)]
                here.append([index, *secret])
                index += len(reference(secret))
        found.append([list(pointer), here])
    return found, left


def fill(found: Sequence[Place], value: Any, values: Values) -> Any:
    """Return `value` with secrets in their places, without rendering or changing `value`.

    Raises ValueError if an expected reference is not in its place.
    """
    for pointer, here in found:
        text = at(value, tuple(pointer))
        parts: list[str] = []
        end = 0
        for index, name, field in here:
            named = reference((name, field))
            if not isinstance(text, str) or not text.startswith(named, index):
                raise ValueError(f"{named} was moved from its place in the inputs")
            parts += [text[end:index], values[name, field]]
            end = index + len(named)
        value = _put(value, tuple(pointer), "".join([*parts, text[end:]]))
    return value


def at(value: Any, pointer: Pointer) -> Any:
    """Return the value at a pointer; None if it does not exist."""
    for key in pointer:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _put(value: Any, pointer: Pointer, new: Any) -> Any:
    """Return a copy of `value` with `new` at an existing pointer."""
    if not pointer:
        return new
    copied = value.copy()
    copied[pointer[0]] = _put(value[pointer[0]], pointer[1:], new)
    return copied
