"""Convert what only a program can do into `python.code`: joins, dates, digests, n8n's Python."""

from typing import Any

from valkyr_plugins.n8n.families.files import as_json, of_json
from valkyr_plugins.n8n.mapping import LIST, Left, Made, NodeWork, family
from valkyr_plugins.n8n.secrecy import without_secrets
from valkyr_plugins.n8n.shape import Shape, many, one
from valkyr_plugins.n8n.texts import is_expression

PYTHON = "It is python.code: an administrator must allow it (VALKYR_PYTHON_CODE)."
MAX_CODE = 50_000
_READ = """

def read(row, name):
    for key in name.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row
"""
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
{_READ}"""
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
ZIPPED = f"""def main(inputs):
    columns = {{name: read(inputs["item"], name) or [] for name in inputs["names"]}}
    size = max((len(column) for column in columns.values()), default=0)
    return [
        {{name: column[place] for name, column in columns.items() if place < len(column)}}
        for place in range(size)
    ]
{_READ}"""
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
{_READ}"""
DATES = """from datetime import UTC, datetime, timedelta


def main(inputs):
    found = read(inputs["date"])
    for unit, count in inputs["add"]:
        if unit in ("months", "years", "quarters"):
            months = count * {"months": 1, "quarters": 3, "years": 12}[unit]
            whole = found.year * 12 + found.month - 1 + int(months)
            year, month = divmod(whole, 12)
            day = min(found.day, last(year, month + 1))
            found = found.replace(year=year, month=month + 1, day=day)
        else:
            found += timedelta(**{unit: count})
    if inputs["until"] is not None:
        seconds = (read(inputs["until"]) - found).total_seconds()
        return {unit: seconds / PER[unit] for unit in inputs["units"]}
    return found.strftime(inputs["format"]) if inputs["format"] else found.isoformat()


PER = {
    "milliseconds": 0.001, "seconds": 1, "minutes": 60, "hours": 3600, "days": 86400,
    "weeks": 604800, "months": 2629746, "years": 31556952,
}


def last(year, month):
    following = datetime(year + month // 12, month % 12 + 1, 1)
    return (following - timedelta(days=1)).day


def read(value):
    if isinstance(value, (int, float)):
        return datetime.fromtimestamp(value / 1000 if value > 10**11 else value, UTC)
    text = str(value).strip()
    if text.isdigit():
        return read(int(text))
    found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=UTC)
"""
DIGESTS = """import base64
import hashlib


def main(inputs):
    found = hashlib.new(inputs["type"], str(inputs["value"]).encode())
    if inputs["encoding"] == "base64":
        return base64.b64encode(found.digest()).decode()
    return found.hexdigest()
"""
_FORMATS = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dd": "%d", "HH": "%H",
    "hh": "%I", "mm": "%M", "ss": "%S", "EEEE": "%A", "cccc": "%A", "a": "%p", "YYYY": "%Y",
    "DD": "%d",
}  # fmt: skip
UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "quarters", "years")


def program(work: NodeWork, code: str, inputs: dict[str, Any], shape: Shape | None = None) -> Made:
    """Return the task that runs a program, and remark that an administrator must allow it."""
    work.remark(PYTHON)
    found = shape or one(f"{work.output}.result")
    return work.made("python.code", {"code": code, "inputs": inputs}, found)


def listed(work: NodeWork, shape: Shape) -> str:
    """Return the template for an input's items, or for its one object; raises Left."""
    found = shape.items or shape.whole
    return "{{ " + (found or work.texts.left("an input of the node", shape.why)) + " }}"


def both(work: NodeWork) -> list[str]:
    """Return the templates for the two inputs of a node; raises Left."""
    shapes = [work.inputs[place] for place in sorted(work.inputs)]
    if len(shapes) < 2:
        raise Left("it joins two inputs, and the file has one")
    return [listed(work, shape) for shape in shapes]


def joined_by_place(work: NodeWork) -> Made:
    """Join the items of the inputs one by one."""
    unpaired = work.get("options.includeUnpaired") is True or work.get("join") == "outer"
    found = program(
        work, PLACES, {"lists": both(work), "all": unpaired}, many(f"{work.output}.result")
    )
    found.join = "all"
    return found


def joined_by_pairs(work: NodeWork) -> Made:
    """Join each item of the first input with each of the second."""
    found = program(work, PAIRS, {"lists": both(work)[:2]}, many(f"{work.output}.result"))
    found.join = "all"
    return found


_KEEP = {"keepMatches": "matches", "keepNonMatches": "nonMatches", "keepEverything": "everything",
         "enrichInput1": "enrichInput1", "enrichInput2": "enrichInput2"}  # fmt: skip


def joined_by_fields(work: NodeWork) -> Made:
    """Join the items whose fields are the same."""
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


def split_several(work: NodeWork, names: list[str]) -> Made:
    """Combine several lists into one list of objects."""
    if any("{{" in name or name.startswith("=") for name in names):
        raise Left("which fields it splits is worked out")
    plain = [name.removeprefix("$json.") for name in names]
    inputs = {"item": listed(work, work.shape), "names": plain}
    return program(work, ZIPPED, inputs, many(f"{work.output}.result"))


def summed(work: NodeWork, rows: list[dict[str, Any]], items: str, groups: list[str]) -> Made:
    """Compute sums that `data.aggregate` does not have."""
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


def dated(work: NodeWork) -> Made:
    """Compute with dates: format, add, subtract, or the time between two."""
    operation = work.word("operation", work.word("action", "format"))
    raw = work.get("date") or work.get("magnitude") or work.get("startDate") or work.get("value")
    if operation in ("extractDate", "roundDate") or raw in (None, ""):
        raise Left("templates do not reckon with dates; do it in python.code")
    inputs: dict[str, Any] = {
        "date": work.value(raw), "add": [], "until": None, "units": [], "format": "",
    }  # fmt: skip
    default = {"addToDate": "newDate", "subtractFromDate": "newDate", "formatDate": "formattedDate",
               "getTimeBetweenDates": "timeDifference"}.get(operation, "data")  # fmt: skip
    name = work.word("outputFieldName", work.word("dataPropertyName", default)).removeprefix("=")
    if operation in ("addToDate", "subtractFromDate", "calculate"):
        unit = work.word("timeUnit", "days")
        away = operation == "subtractFromDate" or work.word("operation") == "subtract"
        count = work.get("duration", 0)
        if unit not in UNITS or isinstance(count, str):
            raise Left("how long it adds is worked out; do it in python.code")
        inputs["add"] = [[unit, -count if away else count]]
    elif operation == "getTimeBetweenDates":
        inputs["until"] = work.value(work.get("endDate", ""))
        units = work.get("units", ["day"])
        inputs["units"] = [f"{one}s" for one in units] if isinstance(units, list) else ["days"]
    elif operation in ("formatDate", "format"):
        inputs["format"] = _format(work)
    else:
        raise Left("templates do not reckon with dates; do it in python.code")
    work.remark("Times without a zone are in UTC.")
    return program(work, DATES, inputs, Shape(named={(name,): f"{work.output}.result"}, why=(
        "of a date's task the result alone is handed on")))  # fmt: skip


def _format(work: NodeWork) -> str:
    pattern = (work.word("customFormat") or work.word("toFormat") or work.word("format")).lstrip(
        "="
    )
    left, found = pattern, ""
    while left:
        known = next((name for name in sorted(_FORMATS, key=len, reverse=True)
                      if left.startswith(name)), "")  # fmt: skip
        if not known and left[0].isalpha() and left[0] != "T":
            raise Left(f"its format {pattern[:40]} has parts that have no equal")
        found += _FORMATS[known] if known else left[0]
        left = left[len(known) or 1 :]
    if not found or "{{" in pattern:
        raise Left("its format is worked out")
    return found


@family("crypto")
def crypto(work: NodeWork) -> Made:
    """Make a digest of a text."""
    kind = {"MD5": "md5", "SHA256": "sha256", "SHA512": "sha512", "SHA1": "sha1",
            "SHA384": "sha384", "SHA3-256": "sha3_256", "SHA3-512": "sha3_512"}.get(
        work.word("type", "MD5"))  # fmt: skip
    if work.word("action", "hash") != "hash" or kind is None or work.get("binaryData") is True:
        raise Left("it signs, or makes random values; do it in python.code, with no secret in it")
    inputs = {"value": work.value(work.get("value", "")), "type": kind,
              "encoding": work.word("encoding", "hex")}  # fmt: skip
    name = work.word("dataPropertyName", "data")
    came = work.shape
    shape = Shape(None, came.base, {**came.named, (name,): f"{work.output}.result"}, why=came.why)
    return program(work, DIGESTS, inputs, shape)


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
    """Run a program in n8n's Python that reads its items by `_input.all()` or `items`."""
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


def is_text(raw: Any) -> bool:
    """Return whether a parameter is a plain text."""
    return isinstance(raw, str) and bool(raw.strip()) and not is_expression(raw)


@family("form")
def form(work: NodeWork) -> Made:
    """Make `flow.callback` for a page of fields, and a value for the last page."""
    if work.word("operation", "page") == "completion":
        work.remark("There are no forms: your own page shows this text at the end.")
        shown = ("completionTitle", "completionMessage")
        told = {key: work.value(work.get(key)) for key in shown if work.get(key)}
        return work.made("flow.noop", {"value": told}, work.shape)
    work.remark(
        f"There are no forms: have your own page POST the fields to tasks.{work.id}.callbackUrl."
    )
    inputs = {"title": work.node.name[:200]}
    return Made("flow.callback", inputs, one(f"{work.output}.payload"), {0: "success"})


@family("chat")
def chat(work: NodeWork) -> Made:
    """Make `flow.callback` for an answer, or a value for a message."""
    message = work.value(work.get("message", ""))
    work.remark(
        "There is no chat page: have one of your own show the message"
        + (
            "" if work.get("waitUserReply") is False
            else f", and POST chatInput to tasks.{work.id}.callbackUrl"
        )
        + "."
    )  # fmt: skip
    if work.get("waitUserReply") is False:
        return work.made("flow.noop", {"value": {"message": message}}, work.shape)
    about = str(message)[:200].replace("\n", " ") or work.node.name[:200]
    inputs = {"title": about if "{{" not in about else work.node.name[:200]}
    return Made("flow.callback", inputs, one(f"{work.output}.payload"), {0: "success"})


@family("moveBinaryData", takes=LIST)
def move_binary(work: NodeWork) -> Made:
    """Parse a file's JSON, or write an item as JSON: files are texts here."""
    if work.word("mode", "binaryToJson") == "binaryToJson":
        return of_json(work)
    return as_json(work)


@family("facebookGraphApi")
def graph_api(work: NodeWork) -> Made:
    """Make the request to the Graph API that the node describes."""
    version = work.word("graphApiVersion", "v22.0") or "v22.0"
    node, edge = work.text(work.get("node", "")), work.text(work.get("edge", ""))
    host = work.word("hostUrl", "graph.facebook.com")
    place = "/".join(part.strip("/") for part in (node, edge) if part)
    if not place:
        work.texts.unfinished += 1
        place = "{{ " + work.texts.left("node", "the file does not say it") + " }}"
    method = work.word("httpRequestMethod", "GET").upper()
    inputs: dict[str, Any] = {"method": method, "url": f"https://{host}/{version}/{place}"}
    rows = work.names("options.queryParameters.parameter")
    query = {
        str(row.get("name")): work.value(row.get("value"), str(row.get("name"))) for row in rows
    }
    fields = [str(row.get("name")) for row in work.names("options.fields.field") if row.get("name")]
    if fields:
        query["fields"] = ",".join(fields)
    raw = work.get("options.queryParametersJson")
    if isinstance(raw, str) and raw.strip("= "):
        try:
            query |= dict(work.texts.json_text(raw))
        except (ValueError, TypeError, RecursionError):
            query["todo"] = "{{ " + work.texts.left(raw, "it is not valid JSON") + " }}"
    if work.get("sendBinaryData") is True:
        work.remark("It sent a file of n8n's: send it in `multipart`.")
    if query:
        inputs["query"] = {work.texts.key(key): value for key, value in query.items()}
    own = work.credential("bearer") or work.secret("facebook", "bearer", "Facebook Graph")
    work.remark("It is a request to the Graph API: the answer is in output.body.")
    return work.made("http.request", inputs, one(f"{work.output}.body"), credential=own)


@family("graphql")
def graphql(work: NodeWork) -> Made:
    """Make `graphql.query`."""
    raw = work.get("query", "")
    if not is_text(raw):
        raise Left("its query is worked out; write it with variables, as graphql.query")
    inputs: dict[str, Any] = {"url": work.text(work.get("endpoint", "")), "query": raw}
    variables = work.get("variables")
    if isinstance(variables, str) and variables.strip("= "):
        try:
            inputs["variables"] = work.texts.json_text(variables)
        except (ValueError, RecursionError):
            inputs["variables"] = "{{ " + work.texts.left(variables, "it is not valid JSON") + " }}"
    work.remark("The answer's data are in output.data, and not in data of the item.")
    shape = Shape(named={("data",): f"{work.output}.data"}, why="see output.data")
    return work.made("graphql.query", inputs, shape, credential=work.credential("bearer"))
