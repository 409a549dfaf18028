"""What a log line says beside its text, and what it must not say.

A filter of the one handler: whoever logs, ours or a library, gets the ids of what is being done.
"""

import logging
import re
from typing import Any
from urllib.parse import urlsplit

from executions.observability import log_context

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
