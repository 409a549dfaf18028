"""How a log line looks: one JSON object for programs, or columns for people. Never two lines.

Only what is listed here is written: what libraries attach to their records (requests, SQL
parameters, arguments of tasks) may hold payloads.
"""

import json
import logging
import os
import traceback
from datetime import UTC, datetime
from typing import Any

from pythonjsonlogger.json import JsonFormatter

# What a line of a terminal can be forged or garbled with.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code != 9}
_CONTROLS |= {10: "\\n", 13: "\\r", 0x2028: "\\u2028", 0x2029: "\\u2029"}
SHORT_LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL"}


class JsonLine(JsonFormatter):
    """One JSON object a line."""

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """When, how bad, who, what; then ids; a traceback last."""
        log_data |= {
            "time": moment(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "process": os.environ.get("VALKYR_PROCESS", "tool"),
            "pid": record.process,
        }
        log_data |= getattr(record, "ids", {})
        told = exception(record)
        if told:
            log_data["exception"] = told

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        """The object as text, in ASCII: a line breaks nowhere."""
        return json.dumps(log_data, default=str)


class TextLine(logging.Formatter):
    """Time, level, logger, message and ids in columns; a traceback below, indented."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        ids = " ".join(f"{name}={value}" for name, value in getattr(record, "ids", {}).items())
        level = SHORT_LEVELS.get(record.levelname, record.levelname)
        message = record.getMessage().translate(_CONTROLS)
        line = f"{moment(record)} {level:<5} {record.name:<24} {message}"
        line = f"{line}  [{ids.translate(_CONTROLS)}]" if ids else line
        told = exception(record)
        return "\n    ".join([line, *told.splitlines()]) if told else line


def moment(record: logging.LogRecord) -> str:
    """When it was said: RFC 3339, UTC, milliseconds."""
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def exception(record: logging.LogRecord) -> str:
    """The traceback, as it was scrubbed where it was (runners/secrets/log_scrubbing.py)."""
    if record.exc_text:
        return record.exc_text
    if record.exc_info and record.exc_info[0] is not None:
        return "".join(traceback.format_exception(*record.exc_info)).rstrip()
    return record.stack_info or ""
