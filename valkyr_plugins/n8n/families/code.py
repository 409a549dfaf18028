"""Convert Code and Function nodes, which contain programs in JavaScript or Python."""

import json
from typing import Any

from valkyr_plugins.n8n.expressions.parsing import Untranslatable
from valkyr_plugins.n8n.expressions.translation import translated
from valkyr_plugins.n8n.families.programs import program
from valkyr_plugins.n8n.javascript.inspection import Unsupported, Uses, inspected
from valkyr_plugins.n8n.javascript.scanning import UnreadableProgram
from valkyr_plugins.n8n.javascript.wrapping import ALL, EACH, OLD_EACH, wrapped
from valkyr_plugins.n8n.mapping import ITEM, LIST, Left, Made, NodeWork, family
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.shape import Shape, many, one, operand

MAX_CODE = 50_000
JAVASCRIPT = "It is javascript.code: an administrator must allow it (VALKYR_JAVASCRIPT_CODE)."
EMPTY = "the file does not hold its program; write it, as javascript.code"


def code_takes(kind: str, mode: Any) -> str:
    """Return `ITEM` if a program runs for each item, or `LIST` if it runs once with all of them."""
    return ITEM if kind == "functionItem" or mode == "runOnceForEachItem" else LIST


@family("code", "function", "functionItem")
def code(work: NodeWork) -> Made:
    """Convert a program into `javascript.code` or `python.code`. Raises Left if that fails."""
    if work.word("language").startswith("python"):
        return n8n_python(work)
    source = work.get("jsCode") or work.get("functionCode")
    if not isinstance(source, str) or not source.strip():
        raise Left(EMPTY)
    if len(source) > MAX_CODE:
        raise Left("its program is too long; split it into several steps")
    try:
        return _javascript(work, inspected(source))
    except (Unsupported, UnreadableProgram) as reason:
        raise Left(f"{reason}. Rewrite that part of its JavaScript") from None


def _javascript(work: NodeWork, uses: Uses) -> Made:
    each = code_takes(work.node.kind, work.get("mode")) == ITEM
    if each and work.shape.items is not None:
        raise Left(work.shape.why)
    inputs: dict[str, Any] = {}
    field = ""
    if uses.items or each:
        inputs["items"], more, field = _items(work, work.shape, "$input.all()")
        inputs |= {"more": more} if more else {}
    if uses.nodes:
        inputs["nodes"] = {work.texts.key(name): _node(work, name) for name in uses.nodes}
        if len(inputs["nodes"]) < len(uses.nodes) or inputs["nodes"].keys() != uses.nodes.keys():
            raise Left("it reads a node whose name looks like a template")
    if outer := _outer(work, uses):
        inputs["outer"] = outer
    if uses.local_time:
        work.remark("Its program reads times of day in UTC; n8n used the workflow's time zone.")
    old = work.node.kind == "functionItem"
    text = wrapped(uses, ALL if not each else OLD_EACH if old else EACH, field=field)
    result = f"{work.output}.result"
    shape = one(result) if each else one(f"{result}[0]") if uses.single else many(result)
    work.remark(JAVASCRIPT)
    return work.made("javascript.code", {"code": text, "inputs": inputs}, shape)


def _items(work: NodeWork, shape: Shape, name: str) -> tuple[Any, dict[str, Any], str]:
    """Return the items' template, the fields from other tasks, and a property ("" for none).

    n8n puts an item that is not an object into that property.
    """
    if shape.items is not None:
        renamed = [keys for keys, ours in shape.each.items() if not ours and len(keys) == 1]
        if shape.within is None or (shape.each and not renamed):
            work.remark("See whether the items have the fields that its program reads.")
        within = ".".join(map(str, shape.within or ()))
        column = f'{operand(shape.items)} | map(attribute="{within}") | list'
        template = "{{ " + (column if within else shape.items) + " }}"
        return template, {}, str(renamed[0][0]) if renamed else ""
    more = {
        str(keys[0]): "{{ " + found + " }}"
        for keys, found in shape.named.items()
        if len(keys) == 1 and shape.whole is None
    }
    found = shape.whole or shape.base
    if found is None and more:
        return [{}], more, ""
    return "{{ " + (found or work.texts.left(name, shape.why)) + " }}", more, ""


def _node(work: NodeWork, name: str) -> Any:
    """Return the template for another node's items."""
    shape = work.sight.nodes(name)
    if shape is None:
        shape = Shape(why=f'"{name}" does not always run before this node')
    template, more, _ = _items(work, shape, f"$({name!r}).all()")
    return [more] if more and template == [{}] else template


def _outer(work: NodeWork, uses: Uses) -> dict[str, Any]:
    """Return the inputs from the workflow, the execution and variables. Raises Unsupported."""
    found: dict[str, Any] = {}
    for name, key in uses.outer:
        source = f"{name}[{json.dumps(key)}]" if name in ("$env", "$vars") else f"{name}.{key}"
        try:
            value = translated(source, work.sight)
        except Untranslatable as reason:
            raise Unsupported(f"it reads {source}, which has no equivalent: {reason}") from None
        found.setdefault(name, {})[work.texts.key(key)] = "{{ " + value + " }}"
    if work.sight.numbered and "$itemIndex" in uses.source:
        found["$itemIndex"] = "{{ index }}"
    return found


_SHIM = """

class Item(dict):
    __getattr__ = dict.get


def main(inputs):
    _items = [Item(json=row) for row in inputs["items"]]
    found = program(_items)
    if isinstance(found, dict):
        found = [found]
    return [one.get("json", one) if isinstance(one, dict) else one for one in found or []]
"""


def n8n_python(work: NodeWork) -> Made:
    """Convert a Python program that reads only its items. Raises Left if it is not convertible."""
    code = work.get("pythonCode")
    if not isinstance(code, str) or not code.strip() or len(code) > MAX_CODE or "{{" in code:
        raise Left("its program cannot be taken over; rewrite it as python.code")
    if "_(" in code or "_node" in code or "js" in code.split() or "_input.item" in code:
        raise Left("its program reads more than its items; rewrite it as python.code")
    if without_secrets(code) != code:
        raise Left("its program holds what looks like a secret; rewrite it as python.code")
    body = "\n".join(f"    {line}" for line in code.splitlines())
    taken = "class Input:\n    def __init__(self, rows):\n        self.rows = rows\n\n    def all(self):\n        return self.rows\n\n    def first(self):\n        return self.rows[0]\n\n\n"  # noqa: E501
    whole = (
        f"{taken}def program(_items):\n    items, _input = _items, Input(_items)\n{body}\n{_SHIM}"
    )
    work.remark("See whether its program reads anything but its items.")
    items = "{{ " + work.items() + " }}"
    return program(work, whole, {"items": items}, many(f"{work.output}.result"))
