"""The JSON Schema of a definition, served to the studio and to editors.

The schema defines a well-formed document; `rules/` checks the rest. The schema's limits are in this
file and in `schema_parts.py`.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from executions.definition.graph.model import POLICIES
from executions.definition.graph.problem import DefinitionProblem, did_you_mean, problem
from executions.definition.graph.schema_parts import (
    CREDENTIAL_NAME,
    LABEL_NAME,
    LABELS,
    MAX_TRIGGERS,
    QUEUE,
    SETTINGS,
    SLUG,
    TRIGGER,
    TRIGGER_DEFINITIONS,
    UI,
    VARIABLE_NAME,
    Schema,
    an_object,
    choice,
    number,
    or_null,
    slug,
    text,
    whole,
)
from executions.definition.templating.errors import Pointer
from executions.definition.templating.paths import kind

SCHEMA_VERSION = "valkyr/1"

MAX_TASKS = 5_000
MAX_EDGES = 20_000
MAX_MODULES = 100
MAX_ATTEMPTS = 100
# Maximum timeout of a step, and maximum sum of the timeouts in a segment. The broker's visibility
# timeout (900 s) is longer.
MAX_STEP_SECONDS = 600
MAX_DELAY_SECONDS = 86_400
MAX_CIRCUIT_WAIT_SECONDS = 604_800  # 7 days
MAX_CACHE_SECONDS = 31_536_000  # 365 days


_WITH: Schema = {
    "type": "object",
    "description": "The module's inputs; strings may contain {{ expressions }}.",
}
_RETRY: Schema = {
    "description": "The name of a retry policy, or your own values.",
    "if": {"type": "object"},
    "then": {"$ref": "#/$defs/retryValues"},
    "else": {
        "if": {"type": "string"},
        "then": {"enum": list(POLICIES)},
        "else": {"type": ["string", "object"]},
    },
}
_RETRY_VALUES = an_object(
    "Your own policy; omitted values are those of the standard policy.",
    {
        "maxAttempts": whole("The total number of attempts, including the first.", 1, MAX_ATTEMPTS),
        "baseSeconds": number(
            "Delay before the second attempt; doubles each time.", 0, MAX_DELAY_SECONDS
        ),
        "maxSeconds": {
            "type": ["number", "null"],
            "description": "Maximum delay, including the jitter; null for no maximum.",
            "minimum": 0,
            "maximum": MAX_DELAY_SECONDS,
        },
        "jitter": {
            "type": ["number", "array"],
            "description": "A share of the delay (0.1 is ±10 %), or [least, most] seconds added.",
            "minimum": 0,
            "maximum": 1,
            "items": {"type": "number", "minimum": 0, "maximum": MAX_DELAY_SECONDS},
            "minItems": 2,
            "maxItems": 2,
        },
        "timeouts": {
            "type": "boolean",
            "description": "Whether a timeout is retried; default: true.",
        },
    },
)
_RUNNING: Schema = {
    "retry": _RETRY,
    "timeoutSeconds": number("A step's timeout in seconds.", 0.1, MAX_STEP_SECONDS),
    "circuitWaitSeconds": number(
        "How long a step can be held while its target's circuit is open.",
        0,
        MAX_CIRCUIT_WAIT_SECONDS,
    ),
    "queue": text("Overrides the module's queue.", 100, pattern=QUEUE),
    "credential": text(
        "The name of a credential of the workspace, if the module takes one.",
        80,
        pattern=CREDENTIAL_NAME,
    ),
    "cache": or_null(
        an_object(
            "Reuse the result of an equal step of an earlier execution; null for never.",
            {
                "scope": choice(
                    "Whose results are reused: this workflow's, or those of any workflow in "
                    "the workspace; default: workflow.",
                    ["workflow", "workspace"],
                ),
                "ttlSeconds": number("Maximum age of a result, in seconds.", 1, MAX_CACHE_SECONDS),
            },
            ("ttlSeconds",),
        )
    ),
}
_UNDO = an_object(
    "The step that undoes the task: it runs if the execution fails permanently, times out or "
    "is cancelled after the task succeeded. Its templates can also read the task's output.",
    {
        "use": text("The module's type, such as http.request.", 100, minLength=1),
        "with": _WITH,
        **{key: value for key, value in _RUNNING.items() if key != "cache"},
    },
    ("use",),
)
_MODULE = an_object(
    "One module of a task's chain.",
    {
        "id": slug("Unique within the task."),
        "use": text("The module's type, such as http.request.", 100, minLength=1),
        "with": _WITH,
        **_RUNNING,
        "ui": UI,
    },
    ("id", "use"),
)
_TASK = an_object(
    "One module, or a chain of modules run one after another.",
    {
        "id": slug("Unique in its body; templates read tasks.<id>.output."),
        "name": text("The title that users see.", 200),
        "use": text("The type of the task's only module, such as http.request.", 100, minLength=1),
        "with": _WITH,
        "modules": {
            "type": "array",
            "description": "A chain of modules; {{ previous }} is the output of the previous one.",
            "minItems": 1,
            "maxItems": MAX_MODULES,
            "items": {"$ref": "#/$defs/module"},
        },
        "body": {"$ref": "#/$defs/body"},
        **_RUNNING,
        "undo": {"$ref": "#/$defs/undo"},
        "join": {
            "type": "string",
            "description": "Start if any edge into the task was taken, or only if all were taken.",
            "enum": ["any", "all"],
        },
        "after": {
            "type": ["string", "array"],
            "description": 'Short for edges into this task: "fetch", or "risky:true".',
            "minLength": 1,
            "items": {"type": "string", "minLength": 1},
        },
        "ui": UI,
    },
    ("id",),
)
# rules/modules.py reports violations with a better message.
_TASK["oneOf"] = [{"required": ["use"]}, {"required": ["modules"]}]
_EDGE = an_object(
    "Taken when the outcome of `from` equals `on`.",
    {
        "from": {"type": "string", "description": "The id of a task."},
        "to": {"type": "string", "description": "The id of a task."},
        "on": {
            "type": ["string", "boolean"],
            "description": (
                "The outcome; default: success. Branching modules require it; every task has error."
            ),
            "minLength": 1,
            "maxLength": 100,
        },
        "ui": UI,
    },
    ("from", "to"),
)
_TASKS: Schema = {
    "type": "array",
    "description": "The tasks, in any order.",
    "maxItems": MAX_TASKS,
    "items": {"$ref": "#/$defs/task"},
}
_EDGES: Schema = {
    "type": "array",
    "description": "The edges between tasks.",
    "maxItems": MAX_EDGES,
    "items": {"$ref": "#/$defs/edge"},
}
_BODY = an_object(
    "The tasks that a container runs for each iteration of a loop or each item of a map.",
    {"tasks": _TASKS, "edges": _EDGES, "ui": UI},
    ("tasks",),
)

WORKFLOW_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Workflow definition",
    **an_object(
        "Tasks and the edges between them.",
        {
            "schema": {"const": SCHEMA_VERSION, "description": "The version of this format."},
            "name": text("The workflow's name.", 200, minLength=1),
            "description": text("The purpose of the workflow.", 10_000),
            "input": {"type": "object", "description": "JSON Schema of the trigger payload."},
            "variables": {
                "type": "object",
                "description": "Execution variables and their defaults.",
                "propertyNames": {"pattern": VARIABLE_NAME, "maxLength": 100},
            },
            "output": {
                "description": ("The output of the execution; may contain {{ expressions }}.")
            },
            "settings": {"$ref": "#/$defs/settings"},
            "labels": LABELS,
            "tasks": _TASKS,
            "edges": _EDGES,
            "triggers": {
                "type": "array",
                "description": "The triggers that start the workflow.",
                "maxItems": MAX_TRIGGERS,
                "items": {"$ref": "#/$defs/trigger"},
            },
            "ui": UI,
        },
        ("schema", "name", "tasks"),
    ),
    "$defs": {
        "task": _TASK,
        "module": _MODULE,
        "undo": _UNDO,
        "edge": _EDGE,
        "body": _BODY,
        "trigger": TRIGGER,
        **TRIGGER_DEFINITIONS,
        "settings": SETTINGS,
        "retryValues": _RETRY_VALUES,
    },
}


# Compare a document with WORKFLOW_SCHEMA and describe each difference in a sentence.


# A jsonschema ValidationError; the library is imported late, because workers never validate.
SchemaError = Any

_TYPES = {
    "string": "a string",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}
_BOUNDS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "maxProperties": "at most {} entries",
}
_PATTERNS = {
    SLUG: (
        "bad_slug",
        "use letters, digits, _ and -, beginning with a letter or digit",
    ),
    QUEUE: (
        "bad_slug",
        "use letters, digits, _, - and dots, beginning with a letter, a digit or _",
    ),
    VARIABLE_NAME: (
        "bad_name",
        "a variable's name has letters, digits and _, and does not begin with a digit",
    ),
    CREDENTIAL_NAME: (
        "bad_name",
        "a credential's name has lower-case letters, digits and _, beginning with a letter",
    ),
    LABEL_NAME: (
        "bad_name",
        "a label's name has lower-case letters, digits, _ and -, beginning with a letter",
    ),
}
SHOWN_CHARACTERS = 60


def shape_problems(document: Any) -> Iterator[DefinitionProblem]:
    """Yield a problem for each place where the document does not match the schema."""
    for error in _validator().iter_errors(document):
        yield from _explain(error)


@lru_cache(maxsize=1)
def _validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(WORKFLOW_SCHEMA)


def _explain(error: SchemaError) -> Iterator[DefinitionProblem]:
    pointer: Pointer = tuple(error.absolute_path)
    rule, expected, found = error.validator, error.validator_value, error.instance
    if "propertyNames" in error.relative_schema_path:
        pointer = (*pointer, found)
    if rule == "oneOf":
        return  # rules/modules.py reports a missing or superfluous `use` or `modules`
    if rule == "additionalProperties":
        yield from _unknown_keys(pointer, error)
    elif rule == "required":
        # The library raises one error per key, and the message starts with the key.
        key = next(key for key in expected if error.message.startswith(f"{key!r} "))
        yield problem((*pointer, key), "required", f'"{key}" is required')
    elif rule == "type":
        names = [expected] if isinstance(expected, str) else expected
        wanted = " or ".join(_TYPES[name] for name in names)
        yield problem(pointer, "type", f"expected {wanted}, found {shown(found)}")
    elif rule == "pattern":
        code, sentence = _PATTERNS[expected]
        yield problem(pointer, code, f"{shown(found)} cannot be used here: {sentence}")
    elif rule in _BOUNDS:
        bound = _BOUNDS[rule].format(f"{expected:,}")
        yield problem(pointer, "value", f"expected {bound}, found {_measured(rule, found)}")
    else:
        yield from _choice(pointer, rule, expected, found)


def _unknown_keys(pointer: Pointer, error: SchemaError) -> Iterator[DefinitionProblem]:
    known = error.schema["properties"]
    for key in error.instance:
        if key not in known:
            hint = did_you_mean(key, known) or f"; known keys: {', '.join(known)}"
            yield problem((*pointer, key), "unknown_key", f'unknown key "{key}"{hint}')


def _choice(pointer: Pointer, rule: str, expected: Any, found: Any) -> Iterator[DefinitionProblem]:
    options = expected if rule == "enum" else [expected]
    hint = did_you_mean(found, map(str, options)) if isinstance(found, str) else ""
    wanted = ", ".join(f'"{option}"' for option in options)
    one_of = "one of " if len(options) > 1 else ""
    code = "unknown_retry_policy" if pointer[-1:] == ("retry",) else "value"
    yield problem(pointer, code, f"expected {one_of}{wanted}, found {shown(found)}{hint}")


def _measured(rule: str, found: Any) -> str:
    return f"{len(found):,}" if rule.endswith(("Length", "Items", "Properties")) else f"{found:,}"


def shown(value: Any) -> str:
    """Return a value for messages: a scalar as shortened text, any other value as its type."""
    if isinstance(value, str):
        short = value if len(value) <= SHOWN_CHARACTERS else f"{value[:SHOWN_CHARACTERS]}…"
        return f'"{short}"'
    if isinstance(value, bool) or value is None:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping | list):
        return kind(value)
    return str(value)[:SHOWN_CHARACTERS]
