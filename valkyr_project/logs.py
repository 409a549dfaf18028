"""Logging: how a line looks, which ids it carries, and Celery's tasks among them."""

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

# Logging's configuration: one handler, on stderr, through which everybody's lines go.
#
# Celery's own set-up is switched off (it would put a handler and a format of its own beside ours),
# and uvicorn's and Django's loggers are made to hand their records up.


FORMATS = ("json", "text")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Their records go up to the root, and they have no handler of their own.
HANDED_UP = ("django", "uvicorn", "uvicorn.error", "uvicorn.access", "celery", "celery.task")


def configuration(form: str, level: str) -> dict[str, Any]:
    """For `logging.config.dictConfig`; raises ImproperlyConfigured, naming the variable."""
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
            # billiard's, which never hands anything up.
            "multiprocessing": {"handlers": ["stderr"], "level": level},
            # The audit trail's head: kept elsewhere, it shows what was done to the trail.
            "valkyr.audit": {"level": "INFO" if form == "json" else level},
            # Each statement, with its parameters: payloads.
            "django.db.backends": {"level": "INFO"},
        },
    }


def set_up(config: dict[str, Any]) -> None:
    """Set logging up; where that was done already, change the levels alone.

    Otherwise every logger is written to, and a forked process copies the 3 MiB they lie in.
    """
    try:
        logging.config.dictConfig({**config, "incremental": True})
    except ValueError:  # somebody else's handlers, or none
        logging.config.dictConfig(config)


@setup_logging.connect(weak=False)
def instead_of_celery(**_: Any) -> None:
    """Celery asks who sets logging up; whoever answers, it leaves everything alone.

    What modules print becomes lines then as well, as with Celery's own set-up: secrets are scrubbed
    from lines only.
    """
    from celery import current_app
    from django.conf import settings

    set_up(settings.LOGGING)
    conf = current_app.conf
    if conf.worker_redirect_stdouts:
        current_app.log.redirect_stdouts(conf.worker_redirect_stdouts_level)


# How a log line looks: one JSON object for programs, or columns for people. Never two lines.
#
# Only what is listed here is written: what libraries attach to their records (requests, SQL
# parameters, arguments of tasks) may hold payloads.


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
    """The traceback, as it was scrubbed where it was (runners/secrets/scrubbing.py)."""
    if record.exc_text:
        return record.exc_text
    if record.exc_info and record.exc_info[0] is not None:
        return "".join(traceback.format_exception(*record.exc_info)).rstrip()
    return record.stack_info or ""


# What a log line says beside its text, and what it must not say.
#
# A filter of the one handler: whoever logs, ours or a library, gets the ids of what is being done.


# Lines that hold a request's address, and in it what gives access: tokens of callbacks, codes.
ADDRESSES = ("uvicorn.access", "django.request", "django.security")
LONGEST_PART = 36  # a UUID's
_OPAQUE = re.compile(rf"(?<=/)[^/?#\s]{{{LONGEST_PART + 1},}}")


class Fields(logging.Filter):
    """Puts the ids on each record as `record.ids`, and keeps addresses harmless."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Always True: nothing is left out here."""
        record.ids = ids()
        if record.name.startswith(ADDRESSES) and isinstance(record.args, tuple):
            record.args = tuple(_harmless(each) for each in record.args)
        return True


def ids() -> dict[str, Any]:
    """Fields by name, in the order of lines: texts, numbers."""
    found = {name: _plain(value) for name, value in log_context.ids().items()}
    return {name: value for name, value in found.items() if value not in (None, "")}


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, int) else str(value)


def _harmless(value: Any) -> Any:
    """An address without its query and without parts that are longer than an id."""
    if not isinstance(value, str) or not value.startswith("/"):
        return value
    return _OPAQUE.sub("…", urlsplit(value).path)


# Lines of a Celery task say which one it is.


# Tasks whose first argument is an execution's id.
OF_AN_EXECUTION = ("runners.run_segment", "runners.advance")
_local = threading.local()


def begin_task(sender: Any = None, task_id: str = "", args: Any = (), **_: Any) -> None:
    """A task starts: its lines say which one it is."""
    name = getattr(sender, "name", "")
    more = {"execution_id": args[0]} if args and name in OF_AN_EXECUTION else {}
    _tokens().append(log_context.set_all({"task": name, "task_message": task_id, **more}))


def end_task(**_: Any) -> None:
    """The task is done: nothing of it clings to the next one in this thread."""
    if tokens := _tokens():
        log_context.reset(tokens.pop())


def _tokens() -> list[Token[Any]]:
    found: list[Token[Any]] = _local.__dict__.setdefault("tokens", [])
    return found


def connect_task_ids() -> None:
    """Listen to Celery."""
    task_prerun.connect(begin_task, weak=False)
    task_postrun.connect(end_task, weak=False)
