"""Prints the page of all modules, docs/modules.md, from what the modules say of themselves."""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from django.core.management.base import BaseCommand

from executions.catalog import ModuleSpec
from runners.modules import registry

OPENING = """\
# Modules

What a step can do. This page is written by `python manage.py describe_modules` from the modules
themselves, and a test keeps it so; the JSON Schemas are at `/v1/ModuleType`.

*Queue* says which workers run it, *effect* what a repeat after a crash does: `none` (nothing),
`idempotent` (nothing, thanks to the idempotency key), `external` (it may happen twice, with the
same key), *credential* the types it takes. A module of your own is a class or a function: see
[the end](#your-own).
"""
CLOSING = """\
## Your own

A typed function is a module:

```python
# shop/steps.py
from decimal import Decimal

from runners.modules.registry import step


@step("shop.discount", inline=True, effect="none")
def discount(total: Decimal, percent: int = 10) -> dict[str, str]:
    \"\"\"What is left to pay.\"\"\"
    return {"total": str(total * (100 - percent) / 100)}
```

Its parameters are the inputs, its docstring the description. Name the Python module in
`VALKYR_EXTRA_MODULES=shop.steps`, or, in a package, as an entry point:

```toml
[project.entry-points."valkyr.modules"]
shop = "shop.steps"
```

A class (`runners.modules.base.Module`) can say more: outcomes, a circuit's target, what its `with`
may hold. `runners/modules/data/` has short ones.

With `credential=("bearer",)` (of a class, an attribute of that name) a step may name a credential
of that type, whose fields are `ctx.credential`. What a module gives back, logs and raises loses the
values of its secrets; what it writes elsewhere does not.
"""
WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}


class Command(BaseCommand):
    """`python manage.py describe_modules > docs/modules.md`."""

    help = "Print a page that describes every registered module, in Markdown."

    def handle(self, *args: Any, **options: Any) -> str:
        """The page."""
        return page(registry.specs()).rstrip("\n")


def page(specs: Mapping[str, ModuleSpec]) -> str:
    """The whole page, its modules by category and type."""
    parts = [OPENING]
    ordered = sorted(specs.values(), key=lambda spec: (spec.category, spec.type))
    for category, members in groupby(ordered, key=lambda spec: spec.category):
        parts.append(f"## {category.capitalize()}\n")
        parts += [_module(spec) for spec in members]
    return "\n".join([*parts, CLOSING])


def _module(spec: ModuleSpec) -> str:
    outcomes = f" · outcomes {_codes(spec.outcomes)}" if spec.outcomes else ""
    credential = f" · credential {_codes(spec.credential)}" if spec.credential else ""
    lines = [
        f"### {spec.type}\n",
        f"{spec.description}\n",
        (
            f"Queue `{spec.queue}` · effect `{spec.effect}` · retry `{spec.retry}` · "
            f"timeout {spec.timeout_seconds:g} s{outcomes}{credential}\n"
        ),
        "| input | type | default | |",
        "|---|---|---|---|",
        *_rows(spec.inputs_schema),
    ]
    outputs = dict((spec.outputs_schema or {}).get("properties", {}))
    if outputs:
        lines += ["", "Output:", ""]
        lines += [f"- `{k}`: {_cell(v.get('description', ''))}" for k, v in outputs.items()]
    return "\n".join([*lines, ""])


def _rows(schema: Mapping[str, Any]) -> Iterator[str]:
    required = schema.get("required", [])
    for key, value in schema.get("properties", {}).items():
        default = "required" if key in required else f"`{_default(value)}`"
        text = _cell(value.get("description", ""))
        for example in value.get("examples", [])[:1]:
            text += f" Example: {_code(json.dumps(example, ensure_ascii=False))}"
        yield f"| `{key}` | {_type(value)} | {default} | {text.strip()} |"


def _default(schema: Mapping[str, Any]) -> str:
    """The default as JSON; where a factory makes it, the empty value of its type."""
    if "default" in schema:
        return json.dumps(schema["default"])
    return "{}" if schema.get("type") == "object" else "[]"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return _codes(schema["enum"])
    if "const" in schema:
        return _codes([schema["const"]])
    if "anyOf" in schema:
        kinds = dict.fromkeys(_type(option) for option in schema["anyOf"])
        return " / ".join(kind for kind in kinds if kind != "null")
    if schema.get("type") == "array":
        return f"list of ({_type(schema.get('items', {}))})"
    return WORDS.get(schema.get("type", ""), "any value")


def _codes(values: Any) -> str:
    return ", ".join(f"`{value}`" for value in values)


def _code(text: str) -> str:
    """As code, also where it holds a backtick itself."""
    return f"`` {_cell(text)} ``" if "`" in text else f"`{_cell(text)}`"


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
