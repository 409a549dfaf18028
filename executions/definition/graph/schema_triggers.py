"""The JSON Schema of a definition's triggers, one object a type."""

from executions.definition.graph.schema_building import (
    UI,
    Schema,
    an_object,
    choice,
    number,
    or_null,
    text,
    whole,
)

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
