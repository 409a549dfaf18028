"""Convert formatting and arithmetic of dates into `python.code`."""

from typing import Any

from valkyr_plugins.n8n.families.programs import program
from valkyr_plugins.n8n.mapping import Left, Made, NodeWork
from valkyr_plugins.n8n.shape import Shape

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
    if inputs.get("part"):
        week = found.isocalendar().week
        return week if inputs["part"] == "week" else getattr(found, inputs["part"])
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
_FORMATS = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "dd": "%d", "HH": "%H",
    "hh": "%I", "mm": "%M", "ss": "%S", "EEEE": "%A", "cccc": "%A", "a": "%p", "YYYY": "%Y",
    "DD": "%d",
}  # fmt: skip
RESULTS = {
    "addToDate": "newDate", "subtractFromDate": "newDate", "formatDate": "formattedDate",
    "getTimeBetweenDates": "timeDifference", "extractDate": "datePart",
}  # fmt: skip
PARTS = ("year", "month", "week", "day", "hour", "minute", "second")
UNITS = ("seconds", "minutes", "hours", "days", "weeks", "months", "quarters", "years")


def dated(work: NodeWork) -> Made:
    """Make a `python.code` task that formats, changes, subtracts or reads dates. Raises Left."""
    operation = work.word("operation", work.word("action", "format"))
    raw = work.get("date") or work.get("magnitude") or work.get("startDate") or work.get("value")
    if operation == "roundDate" or raw in (None, ""):
        raise Left("templates do not reckon with dates; do it in python.code")
    inputs: dict[str, Any] = {
        "date": work.value(raw), "add": [], "until": None, "units": [], "format": "",
    }  # fmt: skip
    default = RESULTS.get(operation, "data")
    name = work.word("outputFieldName", work.word("dataPropertyName", default)).removeprefix("=")
    if operation in ("addToDate", "subtractFromDate", "calculate"):
        unit = work.word("timeUnit", "days")
        away = operation == "subtractFromDate" or work.word("operation") == "subtract"
        count = work.get("duration", 0)
        if unit not in UNITS or isinstance(count, str):
            raise Left("how long it adds is worked out; do it in python.code")
        inputs["add"] = [[unit, -count if away else count]]
    elif operation == "extractDate":
        inputs["part"] = work.word("part", "month")
        if inputs["part"] not in PARTS:
            raise Left("which part of the date it extracts is computed")
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
