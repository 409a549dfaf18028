"""Check a value against a schema, within a budget.

The library jsonschema does the checking. Its import takes a second, and few processes need it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import Any

from executions.definition.json_schema.budget import EvaluationBudget, current, spending
from executions.definition.json_schema.messages import without_value
from executions.definition.patterns import BadPattern, pattern, shown

# Maximum characters of a text whose format is checked, and of a host name, which can be valid only
# up to 253 characters.
MAX_CHARACTERS = 16_384
MAX_HOST_CHARACTERS = 1_000
# Maximum characters of a URI template; the library that parses it takes time quadratic in the
# length.
MAX_TEMPLATE_CHARACTERS = 1_000
TEMPLATE_CHARACTERS = 3  # characters of a URI template that cost one evaluation
# The formats of draft 2020-12 that jsonschema checks with other packages.
EXTRA_FORMATS = frozenset(
    {
        "date-time", "duration", "hostname", "json-pointer", "relative-json-pointer", "time", "uri",
        "uri-reference", "uri-template",
    }
)  # fmt: skip


@lru_cache(maxsize=1)
def format_checker() -> Any:
    """Return a checker of draft 2020-12's formats, which rejects strings that are too long."""
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    checker.checkers = {
        name: (_bounded(name, check), ())
        for name, (check, _) in Draft202012Validator.FORMAT_CHECKER.checkers.items()
    }
    checker.checkers["regex"] = (_is_pattern, ())
    if "uri-template" in checker.checkers:
        checker.checkers["uri-template"] = (_charged(checker.checkers["uri-template"][0]), ())
    return checker


def unchecked_formats() -> frozenset[str]:
    """Return the formats that are not checked because `valkyr[formats]` is not installed."""
    return EXTRA_FORMATS.difference(format_checker().checkers)


def _charged(check: Any) -> Any:
    """Return a check that rejects long strings, and charges for the length of other strings."""

    def checked(value: object) -> bool:
        if isinstance(value, str):
            if len(value) > MAX_TEMPLATE_CHARACTERS:
                return False
            current().spend(len(value) // TEMPLATE_CHARACTERS)
        return bool(check(value))

    return checked


def _bounded(name: str, check: Any) -> Any:
    longest = MAX_HOST_CHARACTERS if "hostname" in name else MAX_CHARACTERS

    def checked(value: object) -> bool:
        if isinstance(value, str) and len(value) > longest:
            return False
        try:
            return bool(check(value))
        except Exception:
            # Each format's library has its own exceptions for invalid values.
            return False

    return checked


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return True
    try:
        pattern(value)
    except BadPattern:
        return False
    return True


# Maximum characters of a message, which may contain a large value.
MAX_MESSAGE = 2_000


class Unresolvable(ValueError):
    """The schema refers to a part that does not exist."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One place in a value that violates the value's schema.

    `path` has names and indexes; `rule` is a keyword, or `false` for the schema `false`; `message`
    can contain the value.
    """

    path: tuple[str | int, ...]
    rule: str
    message: str
    _error: Any = field(repr=False)

    @property
    def without_value(self) -> str:
        """Return a message without the value, for users who may not see values."""
        return without_value(self._error)


def validator(schema: Any) -> Any:
    """Return the library's validator for a schema that passed `schema_mistakes`."""
    return _class()(schema, registry=_registry(), format_checker=format_checker())


def mistakes(checker: Any, value: Any, budget: EvaluationBudget, most: int) -> list[Mistake]:
    """Return the first `most` places where `value` violates the schema of `checker`.

    Raises BudgetExceeded, TooMuchWork (a pattern on a long string), Unresolvable, and
    RecursionError if value and references are nested too deeply.
    """
    from referencing.exceptions import Unresolvable as Missing

    try:
        with spending(budget):
            return list(islice(_mistakes(checker, value), most))
    except Missing as error:
        raise Unresolvable(str(error)) from error


def schema_mistakes(schema: Any, budget: EvaluationBudget, most: int) -> list[Mistake]:
    """Return the first `most` problems of `schema`. Raises BudgetExceeded and RecursionError."""
    return mistakes(_meta_validator(), schema, budget, most)


def _mistakes(checker: Any, value: Any) -> Iterator[Mistake]:
    for error in checker.iter_errors(value):
        message = error.message[:MAX_MESSAGE]
        rule = error.validator or "false"
        yield Mistake(tuple(error.absolute_path), rule, message, error)


@lru_cache(maxsize=1)
def _class() -> Any:
    from jsonschema import Draft202012Validator, validators

    from executions.definition.json_schema.keywords import OWN, charged

    known: Mapping[str, Any] = Draft202012Validator.VALIDATORS
    rules = {name: charged(name, OWN.get(name, rule)) for name, rule in known.items()}
    checker: Any = validators.extend(Draft202012Validator, rules)  # type: ignore[no-untyped-call]
    checker.evolve = _evolve
    return checker


def _evolve(checker: Any, **changes: Any) -> Any:
    """Return the validator with these changes, for a part of the schema.

    The result keeps the validator's class regardless of the part's `$schema`. For a part that names
    a dialect, the library would use its own class, with `re` and without a budget.
    """
    for attribute, argument in _fields():
        if argument not in changes:
            changes[argument] = getattr(checker, attribute)
    return type(checker)(**changes)


@lru_cache(maxsize=1)
def _fields() -> list[tuple[str, str]]:
    """Return pairs of a validator's attribute and the constructor's argument that sets it."""
    import attrs

    return [(field.name, field.alias) for field in attrs.fields(_class()) if field.init]


@lru_cache(maxsize=1)
def _meta_validator() -> Any:
    return validator(_class().META_SCHEMA)


@lru_cache(maxsize=1)
def _registry() -> Any:
    """Return the registry of JSON Schema's own documents; it fetches no other document."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    return REGISTRY


# Keywords whose values are data, not schemas.
DATA_KEYWORDS = frozenset({"const", "enum", "default", "examples"})

Pointer = tuple[str | int, ...]


def bad_patterns(schema: Any) -> Iterator[tuple[Pointer, BadPattern]]:
    """Yield the place of each unusable pattern of a schema, and the reason."""
    pending: list[tuple[Pointer, Any]] = [((), schema)]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            for place, text in _patterns(value):
                try:
                    pattern(text)
                except BadPattern as error:
                    reason = f"{shown(text)} cannot be used as a regular expression: {error}"
                    yield (*pointer, *place), BadPattern(reason)
            pending += [((*pointer, k), v) for k, v in value.items() if k not in DATA_KEYWORDS]
        elif isinstance(value, list):
            pending += [((*pointer, place), item) for place, item in enumerate(value)]


def check_patterns(schema: Any, budget: EvaluationBudget) -> None:
    """Raise BadPattern for the first unusable pattern of a schema, with its place.

    Raises BudgetExceeded if compiling the patterns takes too much CPU time.
    """
    with spending(budget):
        first = next(bad_patterns(schema), None)
    if first is not None:
        pointer, error = first
        raise BadPattern(f"{error} (at {'.'.join(map(str, pointer))})")


def _patterns(schema: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    if isinstance(schema.get("pattern"), str):
        yield ("pattern",), schema["pattern"]
    patterns = schema.get("patternProperties")
    for text in patterns if isinstance(patterns, dict) else ():
        yield ("patternProperties", text), text
