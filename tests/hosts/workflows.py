"""The workflows that every project must be able to run, with modules that need no extra."""

from typing import Any

CHAIN: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "chain",
    "tasks": [
        {"id": "take", "use": "data.set", "with": {"values": {"n": "{{ input.n }}"}}},
        {
            "id": "say",
            "use": "data.template",
            "with": {"text": "{{ tasks.take.output.n }} and more"},
            "after": "take",
        },
        {"id": "rest", "use": "flow.delay", "with": {"seconds": 1}, "after": "say"},
    ],
    "output": "{{ tasks.say.output }}",
}
FAN: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "fan",
    "tasks": [
        {"id": "begin", "use": "flow.noop"},
        *(
            {
                "id": f"part{n}",
                "use": "data.set",
                "with": {"values": {"n": n}},
                "after": "begin",
            }
            for n in range(8)
        ),
        {
            "id": "join",
            "use": "data.template",
            "with": {"text": "{{ tasks.part3.output.n }}{{ tasks.part7.output.n }}"},
            "after": [f"part{n}" for n in range(8)],
            "join": "all",
        },
    ],
    "output": "{{ tasks.join.output }}",
}
# A path out of the folder fails permanently, until a user gives another one.
NOTE: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "note",
    "tasks": [
        {
            "id": "keep",
            "use": "file.write",
            "with": {"path": "{{ input.path }}", "content": "noted"},
        },
    ],
    "output": "{{ tasks.keep.output }}",
}
APPROVAL: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "approval",
    "tasks": [
        {"id": "decide", "use": "flow.approval", "with": {"title": "Go on?"}},
        {
            "id": "go",
            "use": "data.template",
            "with": {"text": "{{ tasks.decide.output.comment }}"},
            "after": "decide:approved",
        },
    ],
    "output": "{{ tasks.go.output }}",
}
CLOCK: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "clock",
    "tasks": [{"id": "tick", "use": "flow.noop"}],
    "triggers": [{"type": "CRON", "schedule": "* * * * *"}],
}
REQUEST: dict[str, Any] = {
    "schema": "valkyr/1",
    "name": "request",
    "tasks": [{"id": "ask", "use": "http.request", "with": {"url": "https://example.org/"}}],
}
