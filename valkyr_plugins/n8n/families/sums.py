"""Convert aggregations that concatenate text, and splits of several lists, into `python.code`."""

from typing import Any

from valkyr_plugins.n8n.families.programs import READ, listed, program
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork
from valkyr_plugins.n8n.shape import many, one

ZIPPED = f"""def main(inputs):
    columns = {{name: read(inputs["item"], name) or [] for name in inputs["names"]}}
    size = max((len(column) for column in columns.values()), default=0)
    return [
        {{name: column[place] for name, column in columns.items() if place < len(column)}}
        for place in range(size)
    ]
{READ}"""
SUMS = f"""def main(inputs):
    groups = {{}}
    for row in inputs["rows"]:
        key = tuple(str(read(row, name)) for name in inputs["groups"])
        groups.setdefault(key, []).append(row)
    found = []
    for members in groups.values():
        told = {{name: read(members[0], name) for name in inputs["groups"]}}
        for name, how, field, joined in inputs["sums"]:
            told[name] = total([read(row, field) for row in members], how, joined)
        found.append(told)
    return found


def total(values, how, joined):
    known = [value for value in values if value is not None and value != ""]
    if how == "concatenate":
        return joined.join(str(value) for value in known)
    if how == "append":
        return known
    if how == "count":
        return len(known)
    if how == "countUnique":
        return len({{str(value) for value in known}})
    numbers = [float(value) for value in known]
    if not numbers:
        return None
    if how == "average":
        return sum(numbers) / len(numbers)
    return {{"sum": sum, "min": min, "max": max}}[how](numbers)
{READ}"""


def split_several(work: NodeWork, names: list[str]) -> Made:
    """Make a `python.code` task that joins several lists into a list of objects. Raises Left."""
    if any("{{" in name or name.startswith("=") for name in names):
        raise Left("which fields it splits is worked out")
    plain = [name.removeprefix("$json.") for name in names]
    inputs = {"item": listed(work, work.shape), "names": plain}
    return program(work, ZIPPED, inputs, many(f"{work.output}.result"))


def summed(work: NodeWork, rows: list[dict[str, Any]], items: str, groups: list[str]) -> Made:
    """Make a `python.code` task for aggregations that concatenate text. Raises Left."""
    sums = []
    for row in rows:
        how, field = str(row.get("aggregation", "count")), str(row.get("field", ""))
        if how not in (
            "concatenate",
            "append",
            "count",
            "countUnique",
            "average",
            "sum",
            "min",
            "max",
        ):
            raise Left(f"there is no equal of {how}; write it as a data.aggregate")
        if not field or "{{" in field:
            raise Left("a field that it sums up is worked out")
        name = {"concatenate": "concatenated", "append": "appended",
                "countUnique": "unique_count"}.get(how, how)  # fmt: skip
        separator = row.get("customSeparator") or row.get("separateBy")
        sums.append([f"{name}_{field}", how, field, str(separator or ", ")])
    inputs = {"rows": "{{ " + items + " }}", "sums": sums, "groups": groups}
    result = f"{work.output}.result"
    return program(work, SUMS, inputs, many(result) if groups else one(f"{result}[0]"))
