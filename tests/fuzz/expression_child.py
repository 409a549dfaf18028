"""Renders one expression after the other as a web process would, and says what each took.

Reads a JSON string a line, answers with a JSON object a line. Run by `expression_watch`.
"""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from executions.definition.templates import (
    WEB,
    RenderBudget,
    TemplateError,
    inspect_template,
)
from executions.errors import PayloadError
from executions.payloads import dump

ADDRESS_SPACE = 3 * 1024**3  # so that a finding does not stop the machine
STATUS = Path("/proc/self/status")


def scope() -> dict[str, Any]:
    """What the expressions read; some of it as large as a payload may be."""
    nested: Any = "x" * 100
    for _ in range(30):
        nested = [nested, {"id": nested}] if len(str(type(nested))) > 99 else [nested]
    rows = [{"id": at, "name": f"row {at % 7}", "a": {"b": at}} for at in range(5_000)]
    return {
        "input": {
            "text": "lorem <b>ipsum</b> & dolor,\n" * 30_000,
            "unicode": "Grüße aus Köln, 北京 😀 " * 20_000,
            "rows": rows,
            "numbers": list(range(50_000)),
            "nested": [[at] * 10 for at in range(2_000)],
            "deep": nested,
            "none": None,
            "big": int("9" * 4_000),
            "keys": {"k" * 1_000 + str(at): at for at in range(500)},
        }
    }


def tried(expression: str, values: dict[str, Any]) -> dict[str, Any]:
    """How rendering one expression ended, its CPU time and by how much memory grew."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = _status("VmRSS")
    began = time.thread_time()
    ended, message, value = _ended(expression, values)
    spent = time.thread_time() - began
    if ended == "rendered":
        began = time.thread_time()
        ended, message = _dumped(value)
        spent = max(spent, time.thread_time() - began)
    return {
        "ended": ended,
        "message": message[:300] if len(message) < 1_000 else "LONG",
        "cpu": spent,
        "kib": _status("VmHWM") - before,
    }


def _ended(expression: str, values: dict[str, Any]) -> tuple[str, str, Any]:
    template, problems = inspect_template("{{ " + expression + " }}")
    if problems:
        return "refused", problems[0].message, None
    try:
        return "rendered", "", template.render(values, RenderBudget(profile=WEB))
    except TemplateError as error:
        return "failed", str(error), None
    except Exception as error:  # the finding
        return "broke", f"{type(error).__name__}: {error}", None


def _dumped(value: Any) -> tuple[str, str]:
    """What becomes of a step's inputs next."""
    try:
        dump(value)
    except PayloadError as error:
        return "failed", error.message
    except Exception as error:  # the finding
        return "broke", f"{type(error).__name__}: {error}"
    return "rendered", ""


def _status(name: str) -> int:
    for line in STATUS.read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1])
    raise LookupError(name)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    values = scope()
    for line in sys.stdin:
        print(json.dumps(tried(json.loads(line), values)), flush=True)


if __name__ == "__main__":
    main()
