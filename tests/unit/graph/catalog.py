"""A small catalog of real ModuleSpecs, for tests of the graph without the runners."""

from executions.definition.catalog import ConfigProblem, ModuleSpec


def spec(type_name, *, outcomes=(), known=None, required=(), writes=False, **more):
    def check(config):
        unknown = [] if known is None else [key for key in config if key not in known]
        found = [ConfigProblem((key,), "unknown_key", f"no {key}") for key in unknown]
        missing = [key for key in required if key not in config]
        return found + [ConfigProblem((key,), "required", f"{key} is required") for key in missing]

    values = {
        "type": type_name,
        "title": type_name,
        "category": "test",
        "description": "",
        "queue": "default",
        "inline": True,
        "effect": "none",
        "outcomes": outcomes,
        "writes_variables": writes,
        "retry": "standard",
        "timeout_seconds": 60.0,
        "credential": (),
        "inputs_schema": {},
        "outputs_schema": None,
        "check": check,
        "outcomes_for": lambda config: tuple(config.get("cases", outcomes)) if outcomes else (),
    }
    return ModuleSpec(**(values | more))


CATALOG = {
    one.type: one
    for one in (
        spec("flow.noop"),
        spec("flow.if", outcomes=("true", "false"), required=("condition",)),
        spec("flow.switch", outcomes=("default",)),
        spec("flow.set_variables", writes=True),
        spec(
            "http.request",
            queue="io",
            inline=False,
            effect="idempotent",
            known=("url", "method", "headers"),
            credential=("bearer",),
            required=("url",),
        ),
    )
}


def definition(tasks=(), **more):
    return {"schema": "valkyr/1", "name": "test", "tasks": list(tasks)} | more


def noop(task_id, **more):
    return {"id": task_id, "use": "flow.noop"} | more
