"""Wrap a program of n8n into `main(inputs)`, with n8n's names for its data."""

from valkyr_plugins.n8n.javascript.additions import BUFFER, ENGLISH
from valkyr_plugins.n8n.javascript.inspection import Uses

ALL, EACH, OLD_EACH = "all", "each", "old each"
_PROGRAM = """// The program of n8n's node; what follows it gives it n8n's names.
async function program() {{
{source}
}}

const rows = (found) => (Array.isArray(found) ? found : found == null ? [] : [found]);
const wrapped = (found, more) => rows(found).map((json, item) => ({{
  json: more && typeof json === "object" ? {{ ...json, ...more }} : json, pairedItem: {{ item }},
}}));
const plain = (one) => (one && typeof one === "object" && "json" in one ? one.json : one);
"""
_SOURCE = """const source = (all) => ({
  all: () => all, first: () => all[0], last: () => all.at(-1),
  item: all[0], itemMatching: (place) => all[place] ?? all[0],
});
"""
_ITEMS = """let items = [], item, $json, $input;
"""
_NODES = """let nodes = {};
const $ = (name) => source(nodes[name]);
const $node = new Proxy({}, { get: (_, name) => nodes[name]?.[0] });
const $items = (name) => (name === undefined ? items : nodes[name]);
"""
_OUTER = "let $env = {}, $vars = {}, $workflow = {}, $execution = {}, $itemIndex = 0;\n"
_FIELD = """const named = (value, name) =>
  rows(value).map((one) => (one && typeof one === "object" ? one : { [name]: one }));
"""


def wrapped(uses: Uses, mode: str, *, field: str = "") -> str:
    """Return the `code` of a `javascript.code` step that runs a program from n8n.

    `field` is the property in which n8n puts an item that is not an object. Of the inputs `items`,
    `more`, `nodes` and `outer`, the code reads only those that the program needs.
    """
    parts = [_PROGRAM.format(source=uses.source.strip("\n")), _SOURCE, _ITEMS]
    begin = []
    if uses.items or mode != ALL:
        value = f"named(inputs.items, {_quoted(field)})" if field else "inputs.items"
        parts += [_FIELD] if field else []
        begin += [
            f"items = wrapped({value}, inputs.more);",
            f"item = items[0]{'?.json' if mode == OLD_EACH else ''};",
            "$json = items[0]?.json;",
            "$input = source(items);",
        ]
    if uses.nodes:
        parts.append(_NODES)
        begin.append(
            "nodes = Object.fromEntries("
            "Object.entries(inputs.nodes).map(([name, found]) => [name, wrapped(found)]));"
        )
    elif "$items" in uses.source:
        parts.append("const $items = () => items;\n")
    if uses.outer or "$itemIndex" in uses.source:
        parts.append(_OUTER)
        begin.append("({ $env = {}, $vars = {}, $workflow = {}, $execution = {},")
        begin.append("   $itemIndex = 0 } = inputs.outer ?? {});")
    parts += [BUFFER] if uses.buffer else []
    parts += [ENGLISH] if uses.english else []
    begin.append("const found = await program();")
    begin.append("return plain(found);" if mode != ALL else "return rows(found).map(plain);")
    lines = "\n".join(f"  {line}" for line in begin)
    return "\n".join([*(part.rstrip("\n") for part in parts), "", _main(lines)])


def _main(lines: str) -> str:
    return f"async function main(inputs) {{\n{lines}\n}}\n"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
