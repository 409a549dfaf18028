"""The JSON Schema of a definition's settings: how its executions run."""

from executions.definition.graph.schema_building import (
    Schema,
    an_object,
    choice,
    or_null,
    slug,
    text,
    whole,
    yes_or_no,
)

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
        "everySteps": whole("One after every so many steps.", 1, MAX_CHECKPOINT_STEPS),
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
    },
)
