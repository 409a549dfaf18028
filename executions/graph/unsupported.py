"""Features of the format that this version does not run yet: known by name, refused by name."""

from collections.abc import Mapping

UNSUPPORTED_MODULES: Mapping[str, str] = {
    "flow.loop": "loops",
    "flow.map": "one body an item",
    "flow.subworkflow": "sub-workflows",
    "flow.delay": "delays",
    "flow.approval": "approvals",
    "flow.wait_for_event": "waiting for events",
    "flow.callback": "callbacks",
}
UNSUPPORTED_TRIGGERS: Mapping[str, str] = {
    "WEBHOOK": "starting by webhook",
    "EVENT": "starting by event",
    "QUEUE": "starting by queue message",
}
# By the part of the document that holds the key.
UNSUPPORTED_KEYS: Mapping[str, Mapping[str, str]] = {
    "settings": {
        "concurrency": "concurrency keys",
        "onFailure": "error workflows",
        "checkpoint": "checkpoint settings",
    },
    "task": {
        "cache": "reuse of results across executions",
        "credential": "workspace credentials",
        "body": "a body inside a task",
    },
    "module": {
        "cache": "reuse of results across executions",
        "credential": "workspace credentials",
    },
}
# Names of templates that mean something only together with the features above.
UNSUPPORTED_NAMES: Mapping[str, str] = {
    "secrets": "secrets",
    "event": "events",
    "loop": "loops",
    "item": "one body an item",
    "index": "one body an item",
}


def not_supported(name: str, what: str) -> str:
    """The sentence that refuses a feature."""
    return f'"{name}" ({what}) is not supported yet; remove it to publish this workflow'
