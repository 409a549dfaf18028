"""Log lines in both formats, and the values that never occur in them."""

import json
import logging
import subprocess
import sys
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from executions.observability import log_context
from tests.support.stack import PROJECT
from valkyr_project.logs import Fields, JsonLine, TextLine, configuration


@pytest.fixture(autouse=True)
def _nowhere() -> None:
    """Reset the log context: a worker that a simulation ended in this thread did not report the end
    of its step.
    """
    log_context.at(None)


def record(message: str, *args: Any, name: str = "a.b", level: int = 30, **more: Any) -> Any:
    made = logging.LogRecord(name, level, "file.py", 1, message, args, more.pop("exc_info", None))
    made.__dict__.update(more)
    assert Fields().filter(made)
    return made


def as_json(made: logging.LogRecord) -> dict[str, Any]:
    text = JsonLine().format(made)
    assert "\n" not in text
    found = json.loads(text)
    assert isinstance(found, dict)
    return found


def test_ids_are_fields_of_an_object_and_brackets_of_a_line() -> None:
    with log_context.bound(execution_id="e-1", attempt=2, nothing=None):
        made = record("step %s", "one")

    assert as_json(made) | {"execution_id": "e-1", "attempt": 2, "message": "step one"} == as_json(
        made
    )
    assert "nothing" not in as_json(made)
    assert (
        TextLine()
        .format(made)
        .endswith("a.b                      step one  [execution_id=e-1 attempt=2]")
    )


def test_ids_end_with_their_block() -> None:
    with log_context.bound(run_id="r"):
        log_context.at(lambda: {"step": "s"})
        assert log_context.ids() == {"run_id": "r", "step": "s"}
        log_context.at(None)

    assert log_context.ids() == {}


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "a\x1b[2Jb", "a\u2028b", "a\x85b"])
def test_a_line_cannot_be_forged(text: str) -> None:
    with log_context.bound(step=text):
        made = record("said %s", text)

    assert len(TextLine().format(made).splitlines()) == 1
    assert len(JsonLine().format(made).splitlines()) == 1


def test_a_traceback_is_a_field_or_indented_below() -> None:
    try:
        int("two\nlines")
    except ValueError:
        made = record("failed", exc_info=sys.exc_info())

    assert as_json(made)["exception"].startswith("Traceback (most recent call last):\n")
    first, *rest = TextLine().format(made).splitlines()
    assert first.endswith("failed")
    assert all(line.startswith("    ") for line in rest)


def test_what_libraries_attach_is_not_written() -> None:
    made = record("asked", sql="SELECT 'payload'", params=("payload",), data={"args": "payload"})

    assert "payload" not in JsonLine().format(made)
    assert "payload" not in TextLine().format(made)


def test_addresses_lose_what_gives_access() -> None:
    secret, known = "t0ken" * 9, "0190b5c8-7a3e-7c51-9d53-2f6f7f1c1e11"
    args = ("127.0.0.1:1", "GET", f"/v1/callbacks/{secret}/{known}?code=c0de", "1.1", 200)
    made = record('%s - "%s %s HTTP/%s" %d', *args, name="uvicorn.access")

    assert as_json(made)["message"] == f'127.0.0.1:1 - "GET /v1/callbacks/…/{known} HTTP/1.1" 200'


def test_settings_that_make_no_sense_name_their_variable() -> None:
    with pytest.raises(ImproperlyConfigured, match="VALKYR_LOG_FORMAT is 'xml'"):
        configuration("xml", "INFO")
    with pytest.raises(ImproperlyConfigured, match="VALKYR_LOG_LEVEL is 'LOUD'"):
        configuration("json", "loud")


def test_logging_that_is_set_up_already_only_changes_its_levels() -> None:
    script = """
import logging
from valkyr_project.logs import configuration, set_up
set_up(configuration("json", "WARNING"))
handlers = list(logging.root.handlers)
set_up(configuration("json", "ERROR"))
assert logging.root.handlers == handlers and logging.root.level == logging.ERROR
logging.config.dictConfig({"version": 1, "root": {"handlers": []}})
set_up(configuration("text", "INFO"))
assert type(logging.root.handlers[0].formatter).__name__ == "TextLine"
"""
    environment = {"VALKYR_SECRET_KEY": "check-" + "0123456789abcdef" * 4}

    subprocess.run([sys.executable, "-c", script], cwd=PROJECT, env=environment, check=True)
