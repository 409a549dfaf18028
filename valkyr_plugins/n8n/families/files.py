"""Convert file nodes: n8n passes files alongside items; here, tasks pass the text of files."""

from typing import Any

from valkyr_plugins.n8n.mapping import LIST, Left, Made, NodeWork, family
from valkyr_plugins.n8n.services.values import content, given, missing
from valkyr_plugins.n8n.shape import Shape, many, one

TEXTS = ("text", "xml", "html", "binaryToPropery")
NO_FILE = (
    "Files are not passed on: the content is the task's output. Pass it to file.write, or to "
    "the request or message that sends it."
)


@family("extractFromFile")
def extract(work: NodeWork) -> Made:
    """Parse a file's text as CSV or JSON, or pass the text on unchanged. Raises Left."""
    operation = work.word("operation", "csv")
    if operation == "csv":
        return _csv(work)
    if operation == "fromJson":
        return of_json(work)
    if operation not in TEXTS:
        raise Left(f"no module reads files of the format {operation}")
    if operation == "binaryToPropery":
        work.remark(
            "It needs Base64: http.request returns it for binary responses, and file.read with "
            "`encoding: base64`."
        )
    key = work.word("destinationKey", "data")
    shape = Shape(named={(key,): work.output}, why="only a file's text is passed on")
    return work.made("flow.noop", {"value": content(work, "the file's text")}, shape)


@family("spreadsheetFile")
def spreadsheet(work: NodeWork) -> Made:
    """Parse or write CSV. Raises Left for any other format."""
    kind = work.word("fileFormat", "csv" if work.word("operation") != "toFile" else "")
    if kind != "csv":
        raise Left(f"no module reads or writes files of the format {kind or 'xls'}")
    return _to_csv(work) if work.word("operation") == "toFile" else _csv(work)


def _csv(work: NodeWork) -> Made:
    inputs: dict[str, Any] = {"text": content(work, "the CSV's text")}
    delimiter = work.get("options.delimiter")
    if isinstance(delimiter, str) and len(delimiter) == 1:
        inputs["delimiter"] = delimiter
    if work.get("options.headerRow") is False:
        inputs["header"] = False
        work.remark("Without a header, rows are lists.")
        shape = Shape(items=f"{work.output}.rows", within=None, why="a row is a list here")
        return work.made("data.csv_parse", inputs, shape)
    return work.made("data.csv_parse", inputs, many(f"{work.output}.rows"))


def of_json(work: NodeWork) -> Made:
    """Parse a file's JSON, unless http.request has already parsed it."""
    key = work.word("destinationKey", "data")
    if (work.shape.whole or "").endswith(".body"):
        work.remark("http.request has already parsed the JSON.")
        shape = Shape(named={(key,): work.output}, why="only the parsed file is passed on")
        return work.made("flow.noop", {"value": content(work)}, shape)
    shape = Shape(named={(key,): f"{work.output}.data"}, why="only the parsed file is passed on")
    return work.made("data.json_parse", {"text": content(work, "the JSON text")}, shape)


@family("convertToFile", takes=LIST)
def convert(work: NodeWork) -> Made:
    """Convert items to CSV or JSON text, or return the text of one field. Raises Left."""
    operation = work.word("operation", "csv")
    if operation == "csv":
        return _to_csv(work)
    if operation == "toJson":
        return as_json(work)
    if operation not in ("toText", "toBinary"):
        raise Left(f"no module writes files of the format {operation}")
    work.remark(NO_FILE)
    name = work.word("sourceProperty").removeprefix("=")
    found = work.shape.read(tuple(name.split("."))) if name and "{{" not in name else None
    value = "{{ " + (found or work.texts.left(f"$json.{name}", work.shape.why)) + " }}"
    return work.made("flow.noop", {"value": value}, _text(work.output))


def as_json(work: NodeWork) -> Made:
    """Make a `data.template` task that writes the items as JSON."""
    work.remark(NO_FILE)
    return work.made("data.template", {"text": _whole(work)}, _text(f"{work.output}.text"))


def _to_csv(work: NodeWork) -> Made:
    work.remark(NO_FILE)
    rows = _whole(work, listed=True)
    return work.made("data.csv_write", {"rows": rows}, _text(f"{work.output}.text"))


def _whole(work: NodeWork, *, listed: bool = False) -> str:
    """Return the template for all items, or for the single object."""
    shape = work.shape
    found = shape.items or (f"[{shape.whole}]" if shape.whole and listed else shape.whole)
    return "{{ " + (found or work.texts.left("$input.all()", shape.why)) + " }}"


def _text(expression: str) -> Shape:
    """Return the shape of a file's content, which n8n's expressions cannot read."""
    return Shape(whole=expression, why="a file's content must be text")


@family("readBinaryFile", "readWriteFile")
def read_write(work: NodeWork) -> Made:
    """Make a `file.read` or `file.write` task. Raises Left for a path that is a pattern."""
    if work.node.kind == "readWriteFile" and work.word("operation", "read") == "write":
        return write(work)
    path = _path(work, "fileSelector|filePath")
    if "*" in path:
        raise Left("it reads the files that match a pattern; list them with file.list")
    work.remark("It reads UTF-8 text; set encoding for other files.")
    return work.made("file.read", {"path": path}, Shape(whole=f"{work.output}.content"))


@family("writeBinaryFile")
def write(work: NodeWork) -> Made:
    """Make a `file.write` task."""
    inputs = {"path": _path(work, "fileName"), "content": content(work)}
    return work.made("file.write", inputs, one(work.output))


def _path(work: NodeWork, keys: str) -> str:
    raw = given(work, keys)
    work.remark("The path is below the files folder of the workers, not on n8n's machine.")
    return missing(work, "the path") if raw is None else work.text(raw).lstrip("/")


@family("moveBinaryData", takes=LIST)
def move_binary(work: NodeWork) -> Made:
    """Parse a file's JSON, or write an item as JSON, because files are text here."""
    if work.word("mode", "binaryToJson") == "binaryToJson":
        return of_json(work)
    return as_json(work)
