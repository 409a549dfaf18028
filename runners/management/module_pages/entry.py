"""One module's entry: what it does, its inputs, outputs, an example, and what goes wrong."""

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from executions.definition.catalog import ModuleSpec
from runners.management.module_pages.kinds import as_json, bounds, cell, code, codes, kind, referred

EFFECTS = {
    "none": "none: it may run again at any time.",
    "idempotent": (
        "idempotent: it may run again after a crash, and the idempotency key keeps it from "
        "happening twice."
    ),
    "external": "external: after a crash it may happen twice, with the same idempotency key.",
}
LONGEST = 300


def entry(spec: ModuleSpec) -> str:
    """The module's part of its category's page."""
    parts = [f"## {spec.type}", spec.description, "\n".join(_facts(spec)), "\n".join(_task(spec))]
    parts += ["\n".join(lines) for lines in (_inputs(spec), _outputs(spec), _bad(spec)) if lines]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _facts(spec: ModuleSpec) -> Iterator[str]:
    yield f"- *Effect*: {EFFECTS[spec.effect]}"
    where = "runs inline, with the steps around it" if spec.inline else f"queue `{spec.queue}`"
    yield f"- *Runs*: {where}; retry `{spec.retry}`; time-out {spec.timeout_seconds:g} s."
    if spec.outcomes:
        yield f"- *Outcomes*: {codes(spec.outcomes)}."
    if spec.credential:
        names = " or ".join(code(name) for name in spec.credential)
        yield f"- *Credential*: of type {names}, named by `credential` of the task."
    if spec.circuit_target:
        yield f"- *Circuit*: {spec.circuit_target.rstrip('.')}."
    if not spec.takes_secrets:
        yield "- *Secrets*: none may stand in its `with`, which is stored or shown."


def _task(spec: ModuleSpec) -> list[str]:
    task: dict[str, Any] = {"id": spec.type.rpartition(".")[2], "use": spec.type}
    if spec.example:
        task["with"] = dict(spec.example)
    text = yaml.safe_dump([task], sort_keys=False, allow_unicode=True, width=90)
    return ["```yaml", text.rstrip("\n"), "```"]


def _inputs(spec: ModuleSpec) -> list[str]:
    schema = spec.inputs_schema
    rows = list(_input_rows(schema))
    if not rows:
        return ["It takes no inputs."]
    return ["| input | type | default | |", "|---|---|---|---|", *rows]


def _input_rows(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", [])
    for key, value in schema.get("properties", {}).items():
        default = "required" if key in required else code(_default(value))
        held = bounds(value)
        told = f"{kind(value, schema)}, {held}" if held else kind(value, schema)
        yield f"| `{key}` | {told} | {default} | {_meaning(value)} |"


def _meaning(value: Mapping[str, Any]) -> str:
    text = cell(value.get("description", ""))
    for example in value.get("examples", [])[:1]:
        text += f" Example: {code(_short(as_json(example)))}"
    return text.strip()


def _default(schema: Mapping[str, Any]) -> str:
    """The default as JSON; where a factory makes it, the empty value of its type."""
    if "default" in schema:
        return _short(as_json(schema["default"]))
    return "{}" if schema.get("type") == "object" else "[]"


def _outputs(spec: ModuleSpec) -> list[str]:
    root = spec.outputs_schema
    if root is None:
        return []
    top = referred(root, root)
    keys = top.get("properties", {})
    if not keys:
        text = cell(top.get("description", ""))
        return [f"Its output is {kind(root, root)}{': ' + text if text else '.'}"]
    rows = [
        f"| `{key}` | {kind(value, root)} | {cell(value.get('description', ''))} |"
        for key, value in keys.items()
    ]
    return ["| output | type | |", "|---|---|---|", *rows]


def _bad(spec: ModuleSpec) -> list[str]:
    if not spec.bad_inputs:
        return []
    rows = [
        f"| {cell(bad.what)} | {bad.error_type} | {cell(bad.says)} |" for bad in spec.bad_inputs
    ]
    return ["| bad input | error type | its message says |", "|---|---|---|", *rows]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
