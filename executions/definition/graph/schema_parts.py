"""Parts of the definition's JSON Schema: building blocks, settings and triggers."""

from typing import Any

SLUG = r"^[A-Za-z0-9_][A-Za-z0-9_-]*$"
QUEUE = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"  # a project's own queues may have dots
VARIABLE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
CREDENTIAL_NAME = r"^[a-z][a-z0-9_]*$"
LABEL_NAME = r"^[a-z][a-z0-9_-]*$"

Schema = dict[str, Any]

UI: Schema = {"type": "object", "description": "For the studio; not part of the checksum."}


def an_object(description: str, properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    """Return the schema of an object with these properties and no others."""
    schema = {
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def or_null(schema: Schema) -> Schema:
    """Return the schema, extended to allow null, which means "no value"."""
    return schema | {"type": [schema["type"], "null"]}


def text(description: str, maximum: int, **more: Any) -> Schema:
    """Return the schema of a string of at most `maximum` characters."""
    return {"type": "string", "description": description, "maxLength": maximum, **more}


def slug(description: str, maximum: int = 100) -> Schema:
    """Return the schema of an ID or slug: letters, digits, _ and -; up to `maximum` characters."""
    return text(description, maximum, pattern=SLUG)


def number(description: str, least: float, most: float, kind: str = "number") -> Schema:
    """Return the schema of a number from `least` to `most`; `kind` is `number` or `integer`."""
    return {"type": kind, "description": description, "minimum": least, "maximum": most}


def whole(description: str, least: int, most: int) -> Schema:
    """Return the schema of a whole number from `least` to `most`."""
    return number(description, least, most, "integer")


def yes_or_no(description: str) -> Schema:
    """Return the schema of a boolean."""
    return {"type": "boolean", "description": description}


def choice(description: str, options: list[str]) -> Schema:
    """Return the schema of a string that is one of the options."""
    return {"type": "string", "description": description, "enum": options}


# The JSON Schema of a definition's settings: how its executions run.


MAX_EXECUTION_SECONDS = 31_536_000  # 365 days
MAX_KEY_HOLDERS = 10_000
MAX_CHECKPOINT_STEPS = 1_000
MAX_CHECKPOINTS = 100
MAX_WORKFLOW_SLUG = 80

_CONCURRENCY = an_object(
    "Maximum concurrent executions with the same key; null for no limit.",
    {
        "key": text("A template over `input`, such as {{ input.customerId }}.", 10_000),
        "limit": whole("Maximum number at once; default: 1.", 1, MAX_KEY_HOLDERS),
        "onConflict": choice(
            "The effect on an execution over the limit: it waits, is rejected, or the earlier "
            "executions are cancelled; default: queue.",
            ["queue", "reject", "cancelPrevious"],
        ),
    },
    ("key",),
)
_ON_FAILURE = an_object(
    "The workflow that starts when an execution fails; null for none.",
    {
        "workflow": slug(
            "The slug of a workflow of the same workspace; its payload describes the failure.",
            MAX_WORKFLOW_SLUG,
        )
    },
    ("workflow",),
)
_CHECKPOINT = an_object(
    "When the engine takes checkpoints; omitted values are those of the installation.",
    {
        "enabled": yes_or_no("Whether checkpoints are taken."),
        "everySteps": whole("Number of steps between two checkpoints.", 1, MAX_CHECKPOINT_STEPS),
        "onLoop": yes_or_no("Before a loop's body and after each iteration."),
        "onGate": yes_or_no("After each branching task."),
        "keep": whole(
            "The number of checkpoints to keep; the oldest are deleted first.", 1, MAX_CHECKPOINTS
        ),
    },
)
SETTINGS: Schema = an_object(
    "How executions run.",
    {
        "timeoutSeconds": {
            "type": ["number", "null"],
            "description": "The execution's deadline in seconds; null for none.",
            "minimum": 1,
            "maximum": MAX_EXECUTION_SECONDS,
        },
        "priority": whole("0 (last) to 9 (first); default: 5.", 0, 9),
        "concurrency": or_null(_CONCURRENCY),
        "onFailure": or_null(_ON_FAILURE),
        "checkpoint": _CHECKPOINT,
        "compensation": choice(
            "Whether a failed execution is undone at once, or keeps its dead letters until a "
            "person undoes it; default: automatic. A cancelled or timed-out execution is "
            "always undone at once.",
            ["automatic", "manual"],
        ),
    },
)


# The JSON Schema of a definition's labels, by which users find its executions.


MAX_LABELS = 10
MAX_LABEL_NAME = 40
MAX_LABEL_VALUE = 200  # characters of a rendered value

LABELS: Schema = {
    "type": "object",
    "description": "What executions are found by: names and templates over `input`, such as "
    "{{ input.orderId }}, rendered when an execution starts.",
    "maxProperties": MAX_LABELS,
    "propertyNames": {"pattern": LABEL_NAME, "maxLength": MAX_LABEL_NAME},
    "additionalProperties": text("A template over `input`, or a text.", 1_000, minLength=1),
}


# The JSON Schema of a definition's triggers, with one object per type.


MAX_TRIGGERS = 100
MAX_ANSWER_SECONDS = 60
MAX_JITTER_SECONDS = 3_600
MAX_CATCH_UP = 1_000

_CRON = an_object(
    "Starts the workflow on a schedule.",
    {
        "type": {"const": "CRON"},
        "schedule": text("Five fields: minute, hour, day, month, weekday.", 200),
        "timezone": text("An IANA time zone; default: UTC.", 100),
        "overlap": choice(
            "While an execution of this trigger runs: skip the fire time, queue behind it, "
            "cancel it, or allow both; default: skip.",
            ["skip", "queue", "cancelPrevious", "allow"],
        ),
        "catchUp": choice(
            "Of the fire times missed during an outage, start none, the latest or all; "
            "default: latest.",
            ["none", "latest", "all"],
        ),
        "catchUpLimit": whole(
            "Maximum number of missed times to start; default: 100.", 1, MAX_CATCH_UP
        ),
        "jitterSeconds": whole(
            "Maximum delay of each start in seconds, to spread load; default: 0.",
            0,
            MAX_JITTER_SECONDS,
        ),
        "startAt": or_null(text("No time before this instant (ISO 8601 with a zone).", 40)),
        "endAt": or_null(text("No time after this instant (ISO 8601 with a zone).", 40)),
        "ui": UI,
    },
    ("type", "schedule"),
)
_WEBHOOK = an_object(
    "Starts the workflow for an HTTP request to the trigger's address.",
    {
        "type": {"const": "WEBHOOK"},
        "auth": choice(
            "How a caller authenticates: with a signature or a token; default: hmac.",
            ["hmac", "bearer"],
        ),
        "respond": choice(
            "Respond when the execution is accepted, or wait for its result; default: accepted.",
            ["accepted", "result"],
        ),
        "timeoutSeconds": number(
            "Maximum seconds that a caller waits for the result; default: 30.",
            1,
            MAX_ANSWER_SECONDS,
        ),
        "ui": UI,
    },
    ("type",),
)
_EVENT = an_object(
    "Starts the workflow for an event of its workspace.",
    {
        "type": {"const": "EVENT"},
        "event": text("The event's name, such as order.created.", 200, minLength=1),
        "filter": or_null(
            text(
                "One {{ expression }} over `event`, the event's payload; null or omitted for "
                "all events.",
                10_000,
            )
        ),
        "ui": UI,
    },
    ("type", "event"),
)
_QUEUE = an_object(
    "Starts the workflow for each message of a queue that `manage.py consume` reads.",
    {
        "type": {"const": "QUEUE"},
        "queue": text("The queue's name.", 200, minLength=1),
        "broker": or_null(
            text(
                "A redis:// or amqp:// address without a password, or env:NAME for an "
                "environment variable that contains one; null or omitted for the engine's "
                "broker.",
                500,
                minLength=1,
            )
        ),
        "ui": UI,
    },
    ("type", "queue"),
)

TRIGGER_DEFINITIONS: Schema = {
    "cron": _CRON,
    "webhook": _WEBHOOK,
    "event": _EVENT,
    "queue": _QUEUE,
}
TRIGGER: Schema = {
    "type": "object",
    "description": "What starts the workflow by itself.",
    "properties": {"type": {"type": "string", "enum": [n.upper() for n in TRIGGER_DEFINITIONS]}},
    "required": ["type"],
    "allOf": [
        {
            "if": {"properties": {"type": {"const": name.upper()}}, "required": ["type"]},
            "then": {"$ref": f"#/$defs/{name}"},
        }
        for name in TRIGGER_DEFINITIONS
    ],
}
