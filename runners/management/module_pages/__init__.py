"""The pages of modules, docs/reference/modules*, generated from the modules' descriptions."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any

import yaml

from executions.definition.catalog import ModuleSpec

# Descriptions of JSON Schema's types in words, and texts that fit into a table's cell.

WORDS = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "object": "object",
    "null": "null",
}
FORMATS = {
    "date-time": "date and time",
    "date": "date",
    "uri": "URL",
    "uuid": "UUID",
    "binary": "bytes",
}


def kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return a schema's type in words, with an object's keys; for an enum, return its values."""
    if "$ref" in schema:
        return kind(referred(schema, root), root)
    if "enum" in schema or "const" in schema:
        return codes(schema.get("enum", [schema.get("const")]))
    options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if options:
        kinds = dict.fromkeys(kind(option, root) for option in options)
        return " / ".join(name for name in kinds if name != "null")
    return _one_kind(schema, root)


def _one_kind(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    if schema.get("type") == "array":
        items = kind(schema.get("items", {}), root)
        return f"list of {items}" if items.isalpha() else f"list of ({items})"
    if schema.get("type") == "object" and schema.get("properties"):
        return f"object: {codes(schema['properties'])}"
    if schema.get("format") in FORMATS:
        return FORMATS[schema["format"]]
    return WORDS.get(schema.get("type", ""), "any value")


def bounds(schema: Mapping[str, Any]) -> str:
    """Return a value's bounds, such as `0 to 10` or `at most 200 characters`; "" if it has none."""
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{low:,} to {high:,}"
    if low is not None:
        return f"from {low:,}"
    if high is not None:
        return f"up to {high:,}"
    if (most := schema.get("maxItems", schema.get("maxLength"))) is None:
        return ""
    types = {option.get("type") for option in [schema, *schema.get("anyOf", ())]}
    unit = "item" if "array" in types else "character"
    return f"at most {most:,} {unit}" + ("s" if most != 1 else "")


def referred(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema, or the schema in `$defs` to which it refers."""
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found: Mapping[str, Any] = root.get("$defs", {}).get(name, {}) if name else schema
    return found


def codes(values: Iterable[Any]) -> str:
    """Return values as code, separated by commas; values other than strings become JSON."""
    return ", ".join(code(value if isinstance(value, str) else as_json(value)) for value in values)


def code(text: str) -> str:
    """Return a text as code, even if it contains a backtick."""
    return f"`` {cell(text)} ``" if "`" in text else f"`{cell(text)}`"


def cell(text: str) -> str:
    """Return a text on one line, with each `|` escaped, for a cell of a Markdown table."""
    return " ".join(text.replace("|", "\\|").split())


def as_json(value: Any) -> str:
    """Return a value as JSON without escaping characters outside ASCII."""
    return json.dumps(value, ensure_ascii=False)


# The facts that the modules of a page share, which the page states once at the top.


WORTH = 12  # minimum words of an input's row that is shown once for several modules


@dataclass(frozen=True)
class Common:
    """The facts and inputs that several modules of a page share."""

    facts: Mapping[str, str]
    rows: Mapping[str, str]  # for each row without an example: the row with an example

    @classmethod
    def of(cls, specs: Sequence[ModuleSpec]) -> "Common":
        """Return the facts that most modules share, and the inputs that several share.

        Of several inputs with one name, only the most frequent is common. Short rows are omitted.
        """
        steps = [spec for spec in specs if not spec.container]
        facts = Counter(pair for spec in steps for pair in _facts(spec).items())
        bare = Counter(row[:2] for spec in specs for row in _input_rows(spec.inputs_schema))
        full = {row: more for spec in specs for _, row, more in _input_rows(spec.inputs_schema)}
        shared = {
            name: row
            for (name, row), times in reversed(bare.most_common())
            if times > 1 and len(row.split()) >= WORTH
        }
        return cls(
            {name: fact for (name, fact), times in facts.items() if 1 < times > len(steps) / 2},
            {row: full[row] for name, row in bare if shared.get(name) == row},
        )

    def opening(self) -> str:
        """Return the beginning of the page: the shared facts and the common inputs."""
        lines = [f"See [how to read this page](../{INDEX}#how-to-read-them)."]
        if any(self.facts.values()):
            lines.append(
                _wrapped(f"Defaults, unless a section says otherwise: {_sentences(self.facts)}")
            )
        if self.rows:
            lines += ["## Common inputs", "\n".join([*INPUTS_HEAD, *self.rows.values()])]
        return "\n\n".join(lines) + "\n"


def _facts(spec: ModuleSpec) -> dict[str, str]:
    """Return the facts about how the module runs; a fact that does not apply is an empty string."""
    circuit = (spec.circuit_target or "").rstrip(".")
    return {
        "effect": f"effect `{spec.effect}`",
        "where": "inline" if spec.inline else f"queue `{spec.queue}`",
        "retry": f"retry `{spec.retry_name}`",
        "timeout": f"timeout {spec.timeout_seconds:g} s",
        "secrets": "" if spec.takes_secrets else "no secrets in `with`",
        "Outcomes": codes(spec.outcomes),
        "Credential": " or ".join(code(name) for name in spec.credential),
        "Circuit": circuit,
        "Container": CONTAINER if spec.container else "",
    }


# Facts that do not apply to containers.
OF_STEPS = ("where", "retry", "timeout")
CONTAINER = "each step of the body has its own queue, retry policy and timeout"


def _sentences(facts: Mapping[str, str]) -> str:
    """Return facts as text; facts whose names are capitalized become separate sentences."""
    short = ", ".join(fact for name, fact in facts.items() if fact and name.islower())
    long = [f"*{name}*: {fact}" for name, fact in facts.items() if fact and not name.islower()]
    return " ".join(f"{part}." for part in (short, *long) if part)


# The section of one module: its description, facts, an example, inputs and outputs.


LONGEST = 300
INPUTS_HEAD = ("| input | type | default | |", "|---|---|---|---|")


def entry(spec: ModuleSpec, common: Common) -> str:
    """Return the module's part of its category's page."""
    parts = [f"## {spec.type}", spec.description, _own_facts(spec, common)]
    parts += ["\n".join(lines) for lines in (_task(spec), _inputs(spec, common), _outputs(spec))]
    return "\n\n".join(part.strip("\n") for part in parts if part) + "\n"


def _own_facts(spec: ModuleSpec, common: Common) -> str:
    """Return, as text, the module's facts that differ from the facts of the page."""
    facts = {
        name: fact or ("secrets allowed in `with`" if name == "secrets" else "none")
        for name, fact in _facts(spec).items()
        if fact != common.facts.get(name, "") and not (spec.container and name in OF_STEPS)
    }
    text = _sentences(facts)
    return _wrapped(text if text.startswith("*") else text and f"*Execution*: {text}")


def _wrapped(text: str) -> str:
    return fill(text, 120, break_long_words=False, break_on_hyphens=False)


def _task(spec: ModuleSpec) -> list[str]:
    task: dict[str, Any] = {"id": spec.type.rpartition(".")[2], "use": spec.type}
    if spec.example:
        task["with"] = dict(spec.example)
    text = yaml.safe_dump([task], sort_keys=False, allow_unicode=True, width=90)
    return ["```yaml", text.rstrip("\n"), "```"]


def _inputs(spec: ModuleSpec, common: Common) -> list[str]:
    inputs = list(_input_rows(spec.inputs_schema))
    shared = [name for name, row, _ in inputs if row in common.rows]
    shown = spec.example or {}  # shown in the example, so their rows need no example of their own
    rows = [row if name in shown else more for name, row, more in inputs if name not in shared]
    lines = [*INPUTS_HEAD, *rows] if rows else []
    if shared:
        names = " and ".join(codes(shared).rsplit(", ", 1))
        noun = "common input" if len(shared) == 1 else "common inputs"
        lines += ["", f"The module also takes the [{noun}](#common-inputs) {names}."]
    return lines or ["The module takes no inputs."]


def _input_rows(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each input's name, and its table row in two forms: without and with an example."""
    required = schema.get("required", [])
    for key, value in schema.get("properties", {}).items():
        default = "required" if key in required else code(_default(value, schema))
        held = bounds(value)
        told = f"{kind(value, schema)}, {held}" if held else kind(value, schema)
        text = cell(value.get("description", ""))
        row = f"| `{key}` | {told} | {default} |"
        yield key, f"{row} {text} |", f"{row} {(text + _example(value)).strip()} |"


def _example(schema: Mapping[str, Any]) -> str:
    examples = schema.get("examples")
    return f" Example: {code(_short(as_json(examples[0])))}" if examples else ""


def _default(schema: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """Return the default as JSON; if a factory creates it, the empty value of the input's type."""
    if "default" in schema:
        return _short(as_json(schema["default"]))
    return "{}" if referred(schema, root).get("type") == "object" else "[]"


def _outputs(spec: ModuleSpec) -> list[str]:
    root = spec.outputs_schema
    if root is None:
        return []
    top = referred(root, root)
    keys = top.get("properties", {})
    if not keys:
        text = cell(top.get("description", ""))
        return [f"The output is {kind(root, root)}{': ' + text if text else '.'}"]
    rows = [
        f"| `{key}` | {kind(value, root)} | {cell(value.get('description', ''))} |"
        for key, value in keys.items()
    ]
    return ["| output | type | |", "|---|---|---|", *rows]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


# All pages by file name: an index with an introduction, and one page per category.


INDEX = "modules.md"
OPENING = Path(__file__).with_name("opening.md")
HEAD = "| category | modules |\n|---|---|\n"
YOUR_OWN = Path(__file__).with_name("your_own.md")


def pages(specs: Mapping[str, ModuleSpec]) -> dict[str, str]:
    """Return the pages' texts, keyed by their paths below `docs/reference/`."""
    ordered = sorted(specs.values(), key=lambda spec: (spec.category, spec.type))
    by_category = {
        category: list(members) for category, members in groupby(ordered, lambda s: s.category)
    }
    found = {path_of(name): _category(name, members) for name, members in by_category.items()}
    return {INDEX: _index(by_category), **found}


def path_of(category: str) -> str:
    """Return the path of a category's page, below `docs/reference/`."""
    return f"modules/{category.replace(' ', '-')}.md"


def _index(by_category: Mapping[str, Sequence[ModuleSpec]]) -> str:
    rows = "".join(
        f"| [{category.capitalize()}]({path_of(category)}) | {_links(members, category)} |\n"
        for category, members in by_category.items()
    )
    parts = [OPENING.read_text(encoding="utf-8"), HEAD + rows]
    return "\n".join([*parts, YOUR_OWN.read_text(encoding="utf-8")])


def _links(members: Sequence[ModuleSpec], category: str) -> str:
    page = path_of(category)
    return ", ".join(f"[`{s.type}`]({page}#{s.type.replace('.', '')})" for s in members)


def _category(category: str, members: Sequence[ModuleSpec]) -> str:
    common = Common.of(members)
    opening = f"# Modules: {category}\n\n{common.opening()}"
    return "\n".join([opening, *(entry(spec, common) for spec in members)])
