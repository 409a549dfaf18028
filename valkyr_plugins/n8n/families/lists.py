"""Convert nodes that process lists: Split Out, Sort, Limit, Aggregate, Summarize and others."""

import json
import re
from typing import Any

from executions.public.templates import todo
from valkyr_plugins.n8n.families.sums import split_several, summed
from valkyr_plugins.n8n.mapping import ITEM, LIST, Family, Left, Made, NodeWork, family
from valkyr_plugins.n8n.shape import Keys, Shape, many, one, operand

_FUNCTIONS = {"sum": "sum", "average": "avg", "min": "min", "max": "max", "count": "count",
              "countUnique": "distinct", "append": "collect"}  # fmt: skip
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
MAX_BATCH = 100_000


@family("splitOut", takes=ITEM)
def split_out(work: NodeWork) -> Made:
    """Make a `flow.noop` task for the list, or `python.code` for several lists. Raises Left."""
    fields = [name.strip() for name in work.word("fieldToSplitOut").split(",") if name.strip()]
    if len(fields) > 1:
        return split_several(work, fields)
    if not fields:
        work.remark("The file does not say which list it splits.")
        fields = ["data"]
    if fields[0].startswith("="):
        raise Left("it splits several fields at once; make the list with data.jmespath")
    field = fields[0].removeprefix("$json.")
    if work.get("include") in ("allOtherFields", "selectedOtherFields"):
        work.remark("It kept other fields with each item; read them from their source.")
    found = work.shape.read(tuple(field.split(".")))
    if found is None:
        found = work.texts.left(f"$json.{field}", work.shape.why)
    each: dict[Keys, Keys] = (
        {(field.rpartition(".")[2],): ()} if work.node.kind == "splitOut" else {}
    )
    return work.made("flow.noop", {"value": "{{ " + found + " }}"}, many(work.output, each))


@family("limit", takes=LIST)
def limit(work: NodeWork) -> Made:
    """Make a `flow.noop` task that returns the first or the last items."""
    if work.shape.items is None:
        return Made("flow.noop", {}, work.shape)
    most = work.get("maxItems", 1)
    most = most if isinstance(most, int) and most > 0 else 1
    cut = f"[-{most}:]" if work.word("keep") == "lastItems" else f"[:{most}]"
    value = "{{ " + operand(work.items()) + cut + " }}"
    return work.made("flow.noop", {"value": value}, work.shape.again(work.output))


@family("sort", takes=LIST)
def sort(work: NodeWork) -> Made:
    """Make a `data.sort` task. Raises Left for a sort by code, at random or by unknown fields."""
    rows = work.names("sortFieldsUi.sortField")
    if work.word("type", "simple") != "simple" or not rows:
        raise Left("it sorts by code or randomly; use data.sort or python.code")
    by = [
        {"field": _field(work, str(row.get("fieldName", ""))),
         "order": "descending" if row.get("order") == "descending" else "ascending"}
        for row in rows[:20]
    ]  # fmt: skip
    inputs = {"rows": "{{ " + _items(work) + " }}", "by": by}
    return work.made("data.sort", inputs, work.shape.again(f"{work.output}.rows"))


@family("removeDuplicates", takes=LIST)
def remove_duplicates(work: NodeWork) -> Made:
    """Make a `data.deduplicate` task.

    Raises Left for unknown fields, or if the node compares with items of earlier executions.
    """
    if work.word("operation", "removeDuplicateInputItems") != "removeDuplicateInputItems":
        raise Left("it remembers items of earlier executions; store them in a database")
    inputs: dict[str, Any] = {"rows": "{{ " + _items(work) + " }}"}
    names = work.get("fieldsToCompare", "")
    if isinstance(names, str) and names.strip("= "):
        inputs["by"] = [_field(work, name.strip()) for name in names.split(",") if name.strip()]
    return work.made("data.deduplicate", inputs, work.shape.again(f"{work.output}.rows"))


@family("aggregate", takes=LIST)
def aggregate(work: NodeWork) -> Made:
    """Make a `data.set` task; its output lists all items, or each field's values. Raises Left."""
    items = _items(work)
    if work.word("aggregate") == "aggregateAllItemData":
        name = work.word("destinationFieldName", "data")
        return work.made("data.set", {"values": {name: "{{ " + items + " }}"}})
    values: dict[str, Any] = {}
    for row in work.names("fieldsToAggregate.fieldToAggregate"):
        field = str(row.get("fieldToAggregate", "")).removeprefix("=")
        renamed = row.get("outputFieldName") if row.get("renameField") is True else None
        name = str(renamed or field.rpartition(".")[2])
        if not field or "{{" in name or "{{" in field:
            raise Left("one of its fields is computed")
        field = _attribute(work, field)
        values[name] = (
            "{{ " + f"{operand(items)} | map(attribute={json.dumps(field)}) | list" + " }}"
        )
    if not values:
        work.texts.unfinished += 1
        work.remark("The file does not say which fields it gathers.")
        values["data"] = todo("the fields that it gathers")
    return work.made("data.set", {"values": values})


@family("summarize", takes=LIST)
def summarize(work: NodeWork) -> Made:
    """Make a `data.aggregate` task, or `python.code` if text is concatenated. Raises Left."""
    compute: dict[str, Any] = {}
    rows = work.names("fieldsToSummarize.values")
    split = work.word("fieldsToSplitBy").removeprefix("=")
    groups = [name.strip() for name in split.split(",") if name.strip()]
    if any(row.get("aggregation") == "concatenate" for row in rows):
        return summed(work, rows, _items(work), groups)
    for row in rows:
        how, field = str(row.get("aggregation", "count")), str(row.get("field", ""))
        if how not in _FUNCTIONS or not field:
            raise Left(f"there is no equivalent of {how}; write it as a data.aggregate")
        own = {"field": _field(work, field)} if how != "count" else {}
        name = {"append": "appended", "countUnique": "unique_count"}.get(how, how)
        compute[f"{name}_{field}"] = {"function": _FUNCTIONS[how], **own}
    if not compute:
        raise Left("it does not say what it works out")
    inputs = {"rows": "{{ " + _items(work) + " }}", "compute": compute}
    if groups:
        inputs["groupBy"] = [_field(work, name) for name in groups]
        return work.made("data.aggregate", inputs, many(f"{work.output}.groups"))
    return work.made("data.aggregate", inputs, one(f"{work.output}.groups[0]"))


@family("itemLists", takes=ITEM)
def item_lists(work: NodeWork) -> Made:
    """Convert an older node, which combines the operations of the newer list nodes."""
    operation = work.word("operation", "splitOutItems")
    found = ITEM_LISTS.get(operation)
    if found is None:
        raise Left(f"there is no equivalent of {operation}")
    return found(work)


ITEM_LISTS: dict[str, Family] = {
    "splitOutItems": split_out,
    "aggregateItems": aggregate,
    "limit": limit,
    "sort": sort,
    "removeDuplicates": remove_duplicates,
    "summarize": summarize,
    "concatenateItems": aggregate,
}


def item_lists_take(operation: Any) -> str:
    """Return `ITEM` if an old list node processes single items, or `LIST` if it processes all."""
    return ITEM if operation in (None, "splitOutItems") else LIST


def loop_items(work: NodeWork) -> tuple[str, Shape]:
    """Return the list that a loop iterates over, and the shape of one item in its body."""
    size = work.get("batchSize", 1 if work.node.version >= 3 else 10)
    size = size if isinstance(size, int) and 0 < size <= MAX_BATCH else 1
    items, whole = work.shape.items, work.shape.whole
    if items is None and whole is None:
        items = work.texts.left("$input.all()", work.shape.why)
        return (items, many(items).of_item("item")) if size == 1 else _batches(work, items, size)
    if items is None:
        # n8n makes an item of each element if the response is a list. Any other response is one
        # item.
        items = str(whole) if str(whole).endswith(".body") else f"[{whole}]"
    if size == 1:
        return items, work.shape.again(items).of_item("item")
    return _batches(work, items, size)


def _batches(work: NodeWork, items: str, size: int) -> tuple[str, Shape]:
    return f"{operand(items)} | batch({size}) | list", work.shape.again("item")


def _items(work: NodeWork) -> str:
    """Return an expression for the list of input items, or a `todo` if it is missing."""
    try:
        return work.items()
    except Left:
        return work.texts.left("$input.all()", work.shape.why)


def _attribute(work: NodeWork, name: str) -> str:
    """Return a field's dotted path for the filter `map`. Raises Left."""
    found = work.shape.column(tuple(name.split("."))) if work.shape.items else (name,)
    if found is None:
        raise Left(f"it collects {name}, and {work.shape.why}")
    return ".".join(map(str, found))


def _field(work: NodeWork, name: str) -> str:
    """Return a field's name for a module; a key that is not a word is quoted. Raises Left."""
    name = name.removeprefix("=").removeprefix("$json.")
    if work.shape.items is None:
        return name if _WORD.fullmatch(name) else json.dumps(name)
    keys = tuple(name.split(".")) if _WORD.fullmatch(name) else (name,)
    found = work.shape.column(keys)
    if found is None:
        raise Left(f"it processes {name}, and {work.shape.why}")
    words = [str(key) for key in found]
    return ".".join(key if _WORD.fullmatch(key) else json.dumps(key) for key in words)
