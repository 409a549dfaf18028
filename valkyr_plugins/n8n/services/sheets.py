"""The calls to Google Sheets, which read and write ranges and rows."""

import re
from functools import reduce
from typing import Any
from urllib.parse import quote

from valkyr_plugins.n8n.mapping import NodeWork
from valkyr_plugins.n8n.services.calls import Service, ServiceCall, always
from valkyr_plugins.n8n.services.values import given, missing, segment
from valkyr_plugins.n8n.texts import is_expression

ROWS = (
    "Rows are lists in output.body.values, and the first row has the names of the columns; "
    "n8n converted them to objects."
)
ORDER = "The values are in the order of the sheet's columns at the time of the export."
UPSERT = (
    f"{ORDER} A request before reads the sheet, to find the row by the column's value as it is "
    "shown, or the first free row. Two executions at once can choose the same free row."
)
ROW_NUMBER = "row_number"
_COLUMN = re.compile("[A-Za-z]{1,3}")


def _title(work: NodeWork) -> Any:
    """Return the sheet's title, which n8n stores next to the sheet's number."""
    raw = work.get("sheetName")
    if isinstance(raw, dict):
        return raw.get("cachedResultName") or (raw.get("value") if _named(raw) else None)
    return raw


def _named(raw: dict[str, Any]) -> bool:
    return raw.get("mode") == "name" or is_expression(raw.get("value"))


def _cells(work: NodeWork, cells: str = "") -> str:
    """Return a range of the sheet in A1 notation, URL-encoded.

    `cells` is URL-encoded already.
    """
    title = given(work, "range") if work.node.version < 3 else _title(work)
    if title is None:
        return missing(work, "the sheet's title")
    own = work.get("options.dataLocationOnSheet.values.range")
    if isinstance(own, str) and own and not cells:
        cells = f"%21{segment(work, own)}"
    text = work.text(title)
    if "{{" in text or work.node.version < 3:
        return segment(work, title) + cells
    return quote(f"'{text}'", safe="") + cells


def _cleared(work: NodeWork) -> str:
    """Return the range to clear: the node's rows, columns or cells, or the whole sheet."""
    kind = work.word("clear", "wholeSheet")
    if work.node.version < 3 or (kind == "wholeSheet" and not work.get("keepFirstRow")):
        return _cells(work)
    return _cells(work, "%21" + _region(work, kind))


def _region(work: NodeWork, kind: str) -> str:
    first = work.get("startIndex", 1 if kind == "specificRows" else "A")
    if kind == "wholeSheet":
        return "A2:ZZZ"
    if kind == "specificRange":
        raw = work.get("range", "A:F")
        return segment(work, raw if is_expression(raw) else str(raw).rpartition("!")[2])
    count = work.get("rowsToDelete" if kind == "specificRows" else "columnsToDelete", 1)
    if kind == "specificRows" and isinstance(first, int) and isinstance(count, int):
        return f"{first}:{first + count - 1}"
    if kind == "specificColumns" and _COLUMN.fullmatch(str(first)) and isinstance(count, int):
        return f"{first}:{_column(_number(first) + count - 1)}"
    return missing(work, "the range to clear, such as A:F")


def _number(column: str) -> int:
    """Return the number of a column: 1 for A, 27 for AA."""
    return reduce(lambda number, letter: number * 26 + ord(letter) - 64, column.upper(), 0)


def _column(number: int) -> str:
    """Return the letters of a column's number: A for 1, AA for 27."""
    higher, letter = divmod(number - 1, 26)
    return (_column(higher) if higher else "") + chr(65 + letter)


def _row(work: NodeWork) -> str:
    """Return the range of the row to write, with a `todo` if the row's number is unknown."""
    values = work.get("columns.value")
    number = values.get(ROW_NUMBER) if isinstance(values, dict) else None
    matched = work.get("columns.matchingColumns")
    if number is not None and matched == [ROW_NUMBER]:
        return _cells(work, "%21A" + segment(work, number))
    column = matched[0] if isinstance(matched, list) and matched else work.get("columnToMatchOn")
    work.remark("n8n found the row by a column's value; the API needs the row's number.")
    return _cells(work, "%21A" + missing(work, f"the row's number, by {column or 'its key'}"))


def _found_row(work: NodeWork) -> str:
    """Return the range of the row that has the node's value in a column, or of a new row."""
    values, names = _columns(work)
    matched = work.get("columns.matchingColumns")
    column = matched[0] if isinstance(matched, list) and matched else work.get("columnToMatchOn")
    if column == ROW_NUMBER:
        return _row(work)
    rows = f"tasks.{work.earlier}.output.body.values"
    if column not in values or column not in names:
        return _cells(work, "%21A" + missing(work, f"the row's number, by {column or 'its key'}"))
    found = f'({rows} | map(attribute={names.index(column)}, default="") | list)'
    value = f"({work.texts.expression(values[column])} | string)"
    free = f"({rows} | length) + 1"
    row = f"({found}.index({value}) + 1) if {value} in {found} else {free}"
    return _cells(work, "%21A{{ " + row + " }}")


def _columns(work: NodeWork) -> tuple[dict[str, Any], list[str]]:
    """Return the row's raw values, keyed by column, and the names of all columns in their order."""
    values = work.get("columns.value")
    rows = work.names("fieldsUi.values") or work.names("fieldsUi.fieldValues")
    if rows:
        name = "column" if "column" in rows[0] else "fieldId"
        values = {str(row.get(name)): row.get("fieldValue") for row in rows}
    values = values if isinstance(values, dict) else {}
    schema = [str(row.get("id")) for row in work.names("columns.schema")]
    return values, [name for name in dict.fromkeys([*schema, *values]) if name != ROW_NUMBER]


def _values(work: NodeWork) -> Any:
    """Return the row's values, in the order of the columns."""
    values, names = _columns(work)
    if not values:
        return [[missing(work, "the row's values, in the order of the columns")]]
    return [[work.value(values[n], n) if n in values else None for n in names]]


def _format(work: NodeWork) -> str:
    raw = work.get("options.cellFormat", work.get("options.valueInputMode"))
    return "RAW" if raw == "RAW" else "USER_ENTERED"


def _gid(work: NodeWork) -> Any:
    raw = given(work, "sheetName")
    text = str(raw).removeprefix("gid=")
    return int(text) if text.isdigit() else missing(work, "the sheet's number (gid)")


def _removed(work: NodeWork) -> Any:
    first, count = work.get("startIndex", 2), work.get("numberToDelete", 1)
    columns = work.word("toDelete", "rows") == "columns"
    known = isinstance(first, int) and isinstance(count, int) and not columns
    begin: Any = first - 1 if known else missing(work, "the first one, from 0")
    end: Any = first - 1 + count if known else missing(work, "the one after the last")
    kind = "COLUMNS" if columns else "ROWS"
    where = {"sheetId": _gid(work), "dimension": kind, "startIndex": begin, "endIndex": end}
    return [{"deleteDimension": {"range": where}}]


_SHEET = "https://sheets.googleapis.com/v4/spreadsheets/{documentId|sheetId}"
_RANGE = {"range": _cells}
_READ = ServiceCall(
    "GET", f"{_SHEET}/values/{{range}}", parts=_RANGE, items="values", within=None,
    remark=f"{ROWS} Filters of the node are not applied: filter the rows.",
)  # fmt: skip
SHEETS = Service(
    "Google Sheets",
    "https://developers.google.com/workspace/sheets/api/reference/rest",
    {
        "sheet: read": _READ,
        "sheet: lookup": _READ,
        "sheet: append": ServiceCall(
            "POST", f"{_SHEET}/values/{{range}}:append", {"valueInputOption": _format},
            {"values": _values}, parts=_RANGE, within=None, remark=ORDER,
        ),
        "sheet: update": ServiceCall(
            "PUT", f"{_SHEET}/values/{{row}}", {"valueInputOption": _format},
            {"values": _values}, parts={"row": _row}, within=None, remark=ORDER,
        ),
        "sheet: appendOrUpdate": ServiceCall(
            "PUT", f"{_SHEET}/values/{{row}}", {"valueInputOption": _format},
            {"values": _values}, parts={"row": _found_row}, within=None, remark=UPSERT,
            first=ServiceCall("GET", f"{_SHEET}/values/{{range}}", parts=_RANGE),
        ),
        "sheet: clear": ServiceCall(
            "POST", f"{_SHEET}/values/{{range}}:clear", parts={"range": _cleared}
        ),
        "sheet: delete": ServiceCall("POST", f"{_SHEET}:batchUpdate", json={"requests": _removed}),
        "sheet: create": ServiceCall(
            "POST", f"{_SHEET}:batchUpdate",
            json={"requests": [{"addSheet": {"properties": {"title": "$title"}}}]},
        ),
        "spreadsheet: create": ServiceCall(
            "POST", "https://sheets.googleapis.com/v4/spreadsheets",
            json={"properties": {"title": "$title"}},
        ),
    },
    always("sheet"),
    {"sheet": "read", "spreadsheet": "create"},
    "a token with the scope https://www.googleapis.com/auth/spreadsheets",
)  # fmt: skip
