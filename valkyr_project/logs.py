"""Set up logging: the format of lines, and the IDs in them, including those of Celery's tasks."""

import json
import logging
import logging.config
import os
import re
import threading
import traceback
from contextvars import Token
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from celery.signals import setup_logging, task_postrun, task_prerun
from django.core.exceptions import ImproperlyConfigured
from pythonjsonlogger.json import JsonFormatter

from executions.observability import log_context

# The logging configuration: one handler, on stderr, writes the lines of all loggers.
#
# Celery's own set-up is disabled, because it would add its own handler and format. The loggers of
# uvicorn and Django propagate their records.


FORMATS = ("json", "text")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Loggers without their own handler, whose records propagate to the root.
HANDED_UP = ("django", "uvicorn", "uvicorn.error", "uvicorn.access", "celery", "celery.task")


def configuration(form: str, level: str) -> dict[str, Any]:
    """Return the argument for `logging.config.dictConfig`.

    Raises ImproperlyConfigured, whose message names the invalid variable.
    """
    level = level.upper()
    if form not in FORMATS:
        raise ImproperlyConfigured(f"VALKYR_LOG_FORMAT is {form!r}; expected json or text.")
    if level not in LEVELS:
        raise ImproperlyConfigured(
            f"VALKYR_LOG_LEVEL is {level!r}; expected one of {', '.join(LEVELS)}."
        )
    here = "valkyr_project.logs"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "fields": {"()": f"{here}.Fields"},
        },
        "formatters": {
            "json": {"()": f"{here}.JsonLine"},
            "text": {"()": f"{here}.TextLine"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["fields"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **{name: {"handlers": [], "propagate": True, "level": level} for name in HANDED_UP},
            # The logger of billiard, which never propagates.
            "multiprocessing": {"handlers": ["stderr"], "level": level},
            # Logs the audit trail's head, which reveals changes to the trail if it is stored
            # elsewhere.
            "valkyr.audit": {"level": "INFO" if form == "json" else level},
            # Not DEBUG, because that logs each statement with its parameters, which may be
            # payloads.
            "django.db.backends": {"level": "INFO"},
        },
    }


def set_up(config: dict[str, Any]) -> None:
    """Set up logging; if it is set up already, only change the levels.

    A second set-up would change every logger, and a forked process would copy 3 MiB of memory.
    """
    try:
        logging.config.dictConfig({**config, "incremental": True})
    except ValueError:  # other handlers, or none
        logging.config.dictConfig(config)


@setup_logging.connect(weak=False)
def instead_of_celery(**_: Any) -> None:
    """Set up logging in place of Celery, which does nothing if a receiver is connected.

    As with Celery's own set-up, text that modules print becomes log lines, because only log lines
    are scrubbed of secrets.
    """
    from celery import current_app
    from django.conf import settings

    set_up(settings.LOGGING)
    conf = current_app.conf
    if conf.worker_redirect_stdouts:
        current_app.log.redirect_stdouts(conf.worker_redirect_stdouts_level)


# The format of a log line: a JSON object for programs, or columns for people. Always one line.
#
# Only the fields listed here are written. Data that libraries attach to their records (requests,
# SQL parameters, arguments of tasks) may contain payloads.


# Control characters, which could forge or garble a terminal's lines.
_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if code != 9}
_CONTROLS |= {10: "\\n", 13: "\\r", 0x2028: "\\u2028", 0x2029: "\\u2029"}
SHORT_LEVELS = {"WARNING": "WARN", "CRITICAL": "FATAL"}


class JsonLine(JsonFormatter):
    """Formats each record as one line with a JSON object."""

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Add time, level, logger, message and process first, then IDs, and a traceback last."""
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
        """Return the object as text, in ASCII, so that the text contains no line separator."""
        return json.dumps(log_data, default=str)


class TextLine(logging.Formatter):
    """Formats a record in columns: time, level, logger, message and IDs, then a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line, followed by indented lines if it has a traceback."""
        ids = " ".join(f"{name}={value}" for name, value in getattr(record, "ids", {}).items())
        level = SHORT_LEVELS.get(record.levelname, record.levelname)
        message = record.getMessage().translate(_CONTROLS)
        line = f"{moment(record)} {level:<5} {record.name:<24} {message}"
        line = f"{line}  [{ids.translate(_CONTROLS)}]" if ids else line
        told = exception(record)
        return "\n    ".join([line, *told.splitlines()]) if told else line


def moment(record: logging.LogRecord) -> str:
    """Return the record's time in RFC 3339 and UTC, with milliseconds."""
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def exception(record: logging.LogRecord) -> str:
    """Return the traceback (scrubbed text if available) or the stack; "" if there is none."""
    if record.exc_text:
        return record.exc_text
    if record.exc_info and record.exc_info[0] is not None:
        return "".join(traceback.format_exception(*record.exc_info)).rstrip()
    return record.stack_info or ""


# Add IDs to each log line, and remove secrets.
#
# The single handler has this filter, so that lines of all loggers, also of libraries, get the IDs
# of the current work.


# Loggers whose lines contain a request's address, which may grant access, for example with a
# callback's token or a code.
ADDRESSES = ("uvicorn.access", "django.request", "django.security")
LONGEST_PART = 36  # characters, as in a UUID
_OPAQUE = re.compile(rf"(?<=/)[^/?#\s]{{{LONGEST_PART + 1},}}")


class Fields(logging.Filter):
    """Sets the IDs on each record as `record.ids`, and removes secrets from addresses."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Add the fields to the record, and return True: this filter drops no records."""
        record.ids = ids()
        if record.name.startswith(ADDRESSES) and isinstance(record.args, tuple):
            record.args = tuple(_harmless(each) for each in record.args)
        return True


def ids() -> dict[str, Any]:
    """Return the ID fields of log lines, keyed by name, in the order in which lines show them."""
    found = {name: _plain(value) for name, value in log_context.ids().items()}
    return {name: value for name, value in found.items() if value not in (None, "")}


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int) else str(value)


def _harmless(value: Any) -> Any:
    """Return an address without its query, with … for long parts; return other values unchanged."""
    if not isinstance(value, str) or not value.startswith("/"):
        return value
    return _OPAQUE.sub("…", urlsplit(value).path)


# Log lines of a Celery task contain the task's IDs.


# Tasks whose first argument is an execution's id.
OF_AN_EXECUTION = ("runners.run_segment", "runners.advance")
_local = threading.local()


def begin_task(sender: Any = None, task_id: str = "", args: Any = (), **_: Any) -> None:
    """Set the IDs that the log lines of a task contain, when the task starts."""
    name = getattr(sender, "name", "")
    more = {"execution_id": args[0]} if args and name in OF_AN_EXECUTION else {}
    _tokens().append(log_context.set_all({"task": name, "task_message": task_id, **more}))


def end_task(**_: Any) -> None:
    """Remove the IDs of a task when it ends, so that the thread's next task does not get them."""
    if tokens := _tokens():
        log_context.reset(tokens.pop())


def _tokens() -> list[Token[Any]]:
    found: list[Token[Any]] = _local.__dict__.setdefault("tokens", [])
    return found


def connect_task_ids() -> None:
    """Connect the receivers of Celery's signals that set and remove task IDs."""
    task_prerun.connect(begin_task, weak=False)
    task_postrun.connect(end_task, weak=False)
