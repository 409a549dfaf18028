"""Parts of the definition's JSON Schema: building blocks, settings, triggers."""

from typing import Any

SLUG = r"^[A-Za-z0-9_][A-Za-z0-9_-]*$"
QUEUE = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$"  # dots are for queues of the project's own
VARIABLE_NAME = r"^[A-Za-z_][A-Za-z0-9_]*$"
CREDENTIAL_NAME = r"^[a-z][a-z0-9_]*$"

Schema = dict[str, Any]

UI: Schema = {"type": "object", "description": "For the studio; not part of the checksum."}


def an_object(description: str, properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    """Return an object with these properties and no others."""
    schema = {
        "type": "object",
        "description": description,
        "properties": properties,
        "additionalProperties": False,
    }
    return schema | ({"required": list(required)} if required else {})


def or_null(schema: Schema) -> Schema:
    """Return the schema with null added, for "none"."""
    return schema | {"type": [schema["type"], "null"]}


def text(description: str, maximum: int, **more: Any) -> Schema:
    """Return the schema of a string of at most `maximum` characters."""
    return {"type": "string", "description": description, "maxLength": maximum, **more}


def slug(description: str, maximum: int = 100) -> Schema:
    """Return the schema of an ID made of letters, digits, _ and -."""
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
    """Return the schema of one of these words."""
    return {"type": "string", "description": description, "enum": options}


# The JSON Schema of a definition's settings: how its executions run.


MAX_EXECUTION_SECONDS = 31_536_000  # 365 days
MAX_KEY_HOLDERS = 10_000
MAX_CHECKPOINT_STEPS = 1_000
MAX_CHECKPOINTS = 100
MAX_WORKFLOW_SLUG = 80

_CONCURRENCY = an_object(
    "How many executions with the same key are under way at once; null for any number.",
    {
        "key": text("A template over `input`, such as {{ input.customerId }}.", 10_000),
        "limit": whole("How many at once; 1 unless given.", 1, MAX_KEY_HOLDERS),
        "onConflict": choice(
            "What happens to one too many: it waits, is refused, or the earlier ones are "
            "cancelled; queue unless given.",
            ["queue", "reject", "cancelPrevious"],
        ),
    },
    ("key",),
)
_ON_FAILURE = an_object(
    "What is started when an execution fails; null for nothing.",
    {
        "workflow": slug(
            "The slug of a workflow of the same workspace; its payload describes the failure.",
            MAX_WORKFLOW_SLUG,
        )
    },
    ("workflow",),
)
_CHECKPOINT = an_object(
    "When the engine takes checkpoints by itself; what is left out is the installation's.",
    {
        "enabled": yes_or_no("Whether it takes any."),
        "everySteps": whole("Number of steps between two checkpoints.", 1, MAX_CHECKPOINT_STEPS),
        "onLoop": yes_or_no("Before a loop's body and after each iteration."),
        "onGate": yes_or_no("After each task that decides where to go on."),
        "keep": whole("How many are kept; the oldest go first.", 1, MAX_CHECKPOINTS),
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
        "priority": whole("0 (last) to 9 (first); 5 unless given.", 0, 9),
        "concurrency": or_null(_CONCURRENCY),
        "onFailure": or_null(_ON_FAILURE),
        "checkpoint": _CHECKPOINT,
        "compensation": choice(
            "Whether a failed execution is undone at once, or keeps its dead letters until a "
            "person undoes it; automatic unless given. One that is cancelled or times out is "
            "always undone at once.",
            ["automatic", "manual"],
        ),
    },
)


# The JSON Schema of a definition's triggers, one object a type.


MAX_TRIGGERS = 100
MAX_ANSWER_SECONDS = 60
MAX_JITTER_SECONDS = 3_600
MAX_CATCH_UP = 1_000

_CRON = an_object(
    "Starts the workflow by the clock.",
    {
        "type": {"const": "CRON"},
        "schedule": text("Five fields: minute, hour, day, month, weekday.", 200),
        "timezone": text("A name of the IANA time zones; UTC unless given.", 100),
        "overlap": choice(
            "While an execution of this trigger runs: skip the time, queue behind it, cancel it, "
            "or allow both; skip unless given.",
            ["skip", "queue", "cancelPrevious", "allow"],
        ),
        "catchUp": choice(
            "Of the times missed while nothing was running, start none, the latest or all; "
            "latest unless given.",
            ["none", "latest", "all"],
        ),
        "catchUpLimit": whole(
            "How many missed times are started at most; 100 unless given.", 1, MAX_CATCH_UP
        ),
        "jitterSeconds": whole(
            "Each start is late by up to this, to spread load; 0 unless given.",
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
    "Starts the workflow by an HTTP request to an address of its own.",
    {
        "type": {"const": "WEBHOOK"},
        "auth": choice(
            "How a caller proves who it is: by a signature or by a token; hmac unless given.",
            ["hmac", "bearer"],
        ),
        "respond": choice(
            "Answer when the execution is accepted, or wait for its result; accepted unless given.",
            ["accepted", "result"],
        ),
        "timeoutSeconds": number(
            "How long a caller waits for the result at most; 30 unless given.",
            1,
            MAX_ANSWER_SECONDS,
        ),
        "ui": UI,
    },
    ("type",),
)
_EVENT = an_object(
    "Starts the workflow by an event of its workspace.",
    {
        "type": {"const": "EVENT"},
        "event": text("The event's name, such as order.created.", 200, minLength=1),
        "filter": or_null(
            text(
                "One {{ expression }} over `event`, the event's payload; null or left out for all.",
                10_000,
            )
        ),
        "ui": UI,
    },
    ("type", "event"),
)
_QUEUE = an_object(
    "Starts the workflow by a message of a queue that `manage.py consume` reads.",
    {
        "type": {"const": "QUEUE"},
        "queue": text("The queue's name.", 200, minLength=1),
        "broker": or_null(
            text(
                "A redis:// or amqp:// address without a password, or env:NAME for an environment "
                "variable that holds one; null or left out for the engine's own broker.",
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
