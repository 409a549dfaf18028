"""The JSON Schema of a definition, served to the studio and to editors.

It says what a well-formed document is; what it cannot say is checked by `rules/`. Bounds are here
so that one place holds them.
"""

from collections.abc import Mapping
from typing import Any

from executions.graph.policies import POLICIES
from executions.graph.unsupported import UNSUPPORTED_KEYS

SCHEMA_VERSION = "valkyr/1"

MAX_TASKS = 5_000
MAX_EDGES = 20_000
MAX_MODULES = 100
MAX_ATTEMPTS = 100
MAX_STEP_SECONDS = 600  # a segment's time-outs add up to at most this; the broker waits 900
MAX_EXECUTION_SECONDS = 31_536_000  # 365 days
MAX_DELAY_SECONDS = 86_400

SLUG = r"^[A-Za-z0-9_][A-Za-z0-9_-]*$"
VARIABLE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"

Schema = dict[str, Any]


def _object(description: str, properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    schema = {
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def _text(description: str, maximum: int, **more: Any) -> Schema:
    return {"type": "string", "description": description, "maxLength": maximum, **more}


def _slug(description: str, maximum: int = 100) -> Schema:
    return _text(description, maximum, pattern=SLUG)


def _number(description: str, least: float, most: float, kind: str = "number") -> Schema:
    return {"type": kind, "description": description, "minimum": least, "maximum": most}


def _unsupported(where: str) -> Schema:
    """Keys of the format that this version of the engine does not run yet, refused by name."""
    return {
        key: {"description": f"Not supported yet: {what}."}
        for key, what in UNSUPPORTED_KEYS[where].items()
    }


_UI: Schema = {"type": "object", "description": "For the studio; not part of the checksum."}
_WITH: Schema = {
    "type": "object",
    "description": "The module's inputs; strings may hold {{ expressions }}.",
}
_RETRY: Schema = {
    "description": "The name of a retry policy, or values of your own.",
    "if": {"type": "object"},
    "then": {"$ref": "#/$defs/retryValues"},
    "else": {
        "if": {"type": "string"},
        "then": {"enum": list(POLICIES)},
        "else": {"type": ["string", "object"]},
    },
}
_RETRY_VALUES = _object(
    "A policy of your own; what is left out is the standard policy's.",
    {
        "maxAttempts": _number("Attempts in all, the first included.", 1, MAX_ATTEMPTS, "integer"),
        "baseSeconds": _number(
            "Delay before the second attempt; doubles each time.", 0, MAX_DELAY_SECONDS
        ),
        "maxSeconds": {
            "type": ["number", "null"],
            "description": "Cap of a delay, its jitter included; null for none.",
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
    },
)
_RUNNING: Schema = {
    "retry": _RETRY,
    "timeoutSeconds": _number("A step's time-out in seconds.", 0.1, MAX_STEP_SECONDS),
    "queue": _slug("Overrides the module's queue."),
}
_MODULE = _object(
    "One module of a task's chain.",
    {
        "id": _slug("Unique within the task."),
        "use": _text("The module's type, such as http.request.", 100, minLength=1),
        "with": _WITH,
        **_RUNNING,
        "ui": _UI,
        **_unsupported("module"),
    },
    ("id", "use"),
)
_TASK = _object(
    "One module, or a chain of modules run one after another.",
    {
        "id": _slug("Unique among the tasks; templates read tasks.<id>.output."),
        "name": _text("What people see.", 200),
        "use": _text("The type of the task's only module, such as http.request.", 100, minLength=1),
        "with": _WITH,
        "modules": {
            "type": "array",
            "description": "A chain of modules; {{ previous }} is the output of the one before.",
            "minItems": 1,
            "maxItems": MAX_MODULES,
            "items": {"$ref": "#/$defs/module"},
        },
        **_RUNNING,
        "join": {
            "type": "string",
            "description": "Start when any edge into the task was taken, or only if all were.",
            "enum": ["any", "all"],
        },
        "after": {
            "type": ["string", "array"],
            "description": 'Short for edges into this task: "fetch", or "risky:true".',
            "minLength": 1,
            "items": {"type": "string", "minLength": 1},
        },
        "ui": _UI,
        **_unsupported("task"),
    },
    ("id",),
)
# Reported in words of their own by rules/modules.py.
_TASK["oneOf"] = [{"required": ["use"]}, {"required": ["modules"]}]
_EDGE = _object(
    "Taken when the outcome of `from` equals `on`.",
    {
        "from": {"type": "string", "description": "The id of a task."},
        "to": {"type": "string", "description": "The id of a task."},
        "on": {
            "type": ["string", "boolean"],
            "description": "The outcome; success unless given. Gates need it; error is any task's.",
            "minLength": 1,
            "maxLength": 100,
        },
        "ui": _UI,
    },
    ("from", "to"),
)
_CRON = _object(
    "Starts the workflow by the clock.",
    {
        "type": {"const": "CRON"},
        "schedule": _text("Five fields: minute, hour, day, month, weekday.", 200),
        "timezone": _text("A name of the IANA time zones; UTC unless given.", 100),
        "overlap": {
            "type": "string",
            "description": "While an execution of this trigger runs: skip the tick, or allow both.",
            "enum": ["skip", "allow"],
        },
        "ui": _UI,
    },
    ("type", "schedule"),
)
_TRIGGER: Schema = {
    "type": "object",
    "description": "What starts the workflow by itself.",
    "properties": {
        "type": {"type": "string", "enum": ["CRON", "WEBHOOK", "EVENT", "QUEUE"]},
    },
    "required": ["type"],
    "if": {"properties": {"type": {"const": "CRON"}}, "required": ["type"]},
    "then": {"$ref": "#/$defs/cron"},
}
_SETTINGS = _object(
    "How executions run.",
    {
        "timeoutSeconds": {
            "type": ["number", "null"],
            "description": "The execution's deadline in seconds; null for none.",
            "minimum": 1,
            "maximum": MAX_EXECUTION_SECONDS,
        },
        "priority": _number("0 (last) to 9 (first); 5 unless given.", 0, 9, "integer"),
        **_unsupported("settings"),
    },
)

WORKFLOW_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Workflow definition",
    **_object(
        "Tasks and the edges between them.",
        {
            "schema": {"const": SCHEMA_VERSION, "description": "The version of this format."},
            "name": _text("The workflow's name.", 200, minLength=1),
            "description": _text("What it is for.", 10_000),
            "input": {"type": "object", "description": "JSON Schema of the trigger payload."},
            "variables": {
                "type": "object",
                "description": "Execution variables and their defaults.",
                "propertyNames": {"pattern": VARIABLE_NAME, "maxLength": 100},
            },
            "output": {"description": "What the execution returns; may hold {{ expressions }}."},
            "settings": {"$ref": "#/$defs/settings"},
            "tasks": {
                "type": "array",
                "description": "The steps of the work, in any order.",
                "maxItems": MAX_TASKS,
                "items": {"$ref": "#/$defs/task"},
            },
            "edges": {
                "type": "array",
                "description": "What comes after what.",
                "maxItems": MAX_EDGES,
                "items": {"$ref": "#/$defs/edge"},
            },
            "triggers": {
                "type": "array",
                "description": "What starts the workflow by itself.",
                "maxItems": 100,
                "items": {"$ref": "#/$defs/trigger"},
            },
            "ui": _UI,
        },
        ("schema", "name", "tasks"),
    ),
    "$defs": {
        "task": _TASK,
        "module": _MODULE,
        "edge": _EDGE,
        "trigger": _TRIGGER,
        "cron": _CRON,
        "settings": _SETTINGS,
        "retryValues": _RETRY_VALUES,
    },
}
