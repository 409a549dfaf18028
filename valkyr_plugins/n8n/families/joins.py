"""Convert joins of items, on their fields or positions, into `python.code`."""

from valkyr_plugins.n8n.families.programs import READ, listed, program
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork
from valkyr_plugins.n8n.shape import many

MATCH = f"""def main(inputs):
    first, second = rows(inputs["first"]), rows(inputs["second"])
    keys, keep = inputs["keys"], inputs["keep"]
    found, used = [], set()
    for row in first:
        partners = [
            place for place, other in enumerate(second)
            if all(read(row, one) == read(other, two) for one, two in keys)
        ]
        used |= set(partners)
        if keep in ("matches", "enrichInput1", "everything"):
            found += [{{**row, **second[place]}} for place in partners]
        if not partners and keep in ("enrichInput1", "everything", "nonMatches", "first"):
            found.append(row)
        if partners and keep == "firstMatches":
            found.append(row)
    if keep in ("everything", "nonMatches", "second"):
        found += [row for place, row in enumerate(second) if place not in used]
    if keep == "enrichInput2":
        for place, row in enumerate(second):
            partners = [
                other for other in first
                if all(read(other, one) == read(row, two) for one, two in keys)
            ]
            found += [{{**other, **row}} for other in partners] or [row]
    return found


def rows(value):
    return value if isinstance(value, list) else [value]
{READ}"""
PLACES = """def main(inputs):
    lists = [value if isinstance(value, list) else [value] for value in inputs["lists"]]
    size = (max if inputs["all"] else min)(map(len, lists))
    return [
        {key: item for rows in lists if place < len(rows) for key, item in rows[place].items()}
        for place in range(size)
    ]
"""
PAIRS = """def main(inputs):
    lists = [value if isinstance(value, list) else [value] for value in inputs["lists"]]
    return [{**first, **second} for first in lists[0] for second in lists[1]]
"""


def both(work: NodeWork) -> list[str]:
    """Return the templates of a node's inputs, at least two. Raises Left if there are fewer."""
    shapes = [work.inputs[place] for place in sorted(work.inputs)]
    if len(shapes) < 2:
        raise Left("it joins two inputs, and the file has one")
    return [listed(work, shape) for shape in shapes]


def joined_by_place(work: NodeWork) -> Made:
    """Join the items of the inputs by position. Raises Left if there are fewer than two inputs."""
    unpaired = work.get("options.includeUnpaired") is True or work.get("join") == "outer"
    found = program(
        work, PLACES, {"lists": both(work), "all": unpaired}, many(f"{work.output}.result")
    )
    found.join = "all"
    return found


def joined_by_pairs(work: NodeWork) -> Made:
    """Join each item of the first input with each item of the second. Raises Left."""
    found = program(work, PAIRS, {"lists": both(work)[:2]}, many(f"{work.output}.result"))
    found.join = "all"
    return found


_KEEP = {"keepMatches": "matches", "keepNonMatches": "nonMatches", "keepEverything": "everything",
         "enrichInput1": "enrichInput1", "enrichInput2": "enrichInput2"}  # fmt: skip


def joined_by_fields(work: NodeWork) -> Made:
    """Join the items whose fields have equal values. Raises Left for an unsupported join."""
    keys = _keys(work)
    if not keys:
        raise Left("it does not say by which fields it joins")
    mode = work.word("mode", "combine")
    keep = {"mergeByKey": "enrichInput1", "removeKeyMatches": "first"}.get(
        mode, _KEEP.get(work.word("joinMode", "keepMatches"), "")
    )
    source = work.word("outputDataFrom", "both")
    if keep == "matches" and source != "both":
        keep = "firstMatches" if source == "input1" else ""
    if keep == "nonMatches" and source != "both":
        keep = {"input1": "first", "input2": "second"}.get(source, "")
    if not keep:
        raise Left("it joins items in a way that is left to you; join them in python.code")
    first, second = both(work)[:2]
    if len(work.inputs) > 2:
        raise Left("it joins more than two inputs")
    inputs = {"first": first, "second": second, "keys": keys, "keep": keep}
    if work.get("options.fuzzyCompare") is True:
        work.remark('It took 1 and "1" as the same; here they are not.')
    found = program(work, MATCH, inputs, many(f"{work.output}.result"))
    found.join = "all"
    return found


def _keys(work: NodeWork) -> list[list[str]]:
    rows = work.names("mergeByFields.values")
    pairs = [[str(row.get("field1", "")), str(row.get("field2", ""))] for row in rows]
    text = work.word("fieldsToMatchString")
    pairs = pairs or [[name.strip()] * 2 for name in text.split(",") if name.strip()]
    old = [work.word("propertyName1"), work.word("propertyName2")]
    pairs = pairs or ([old] if all(old) else [])
    sound = all(one and two and "{{" not in one + two for one, two in pairs)
    return [[one.removeprefix("="), two.removeprefix("=")] for one, two in pairs] if sound else []
