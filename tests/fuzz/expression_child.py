"""Render one expression after the other, and report the cost of each.

Each line is JSON: a string, which is rendered as in a web process, or a string and a step's
seconds, within which a worker would render it. The answer is a JSON object per line.
`expression_watch` runs this program.
"""

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

from executions.definition.templates import (
    WEB,
    WORKER,
    RenderBudget,
    TemplateError,
    inspect_template,
)
from executions.errors import PayloadError
from executions.payloads import dump
from tests.fuzz.bounded import Ticks

ADDRESS_SPACE = 3 * 1024**3  # so that a finding does not stop the machine
STATUS = Path("/proc/self/status")


def scope() -> dict[str, Any]:
    """Return the values that the expressions read; some are as large as a payload may be."""
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


def tried(
    expression: str, step: float | None, values: dict[str, Any], ticks: Ticks
) -> dict[str, Any]:
    """Render one expression; return how it ended, its CPU time and its memory growth.

    `held` is the longest time in which no other thread ran.
    """
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again
    before = _status("VmRSS")
    ticks.longest()
    began = time.thread_time()
    ended, message, value = _ended(expression, step, values)
    spent = time.thread_time() - began
    if ended == "rendered":
        began = time.thread_time()
        ended, message = _dumped(value)
        spent = max(spent, time.thread_time() - began)
    return {
        "ended": ended,
        "message": message[:300] if len(message) < 1_000 else "LONG",
        "cpu": spent,
        "held": ticks.longest(),
        "kib": _status("VmHWM") - before,
    }


def _ended(expression: str, step: float | None, values: dict[str, Any]) -> tuple[str, str, Any]:
    template, problems = inspect_template("{{ " + expression + " }}")
    if problems:
        return "refused", problems[0].message, None
    try:
        return "rendered", "", template.render(values, _budget(step))
    except TemplateError as error:
        return "failed", str(error), None
    except Exception as error:  # the finding
        return "broke", f"{type(error).__name__}: {error}", None


def _budget(step: float | None) -> RenderBudget:
    if step is None:
        return RenderBudget(profile=WEB)
    # As in a step's inputs (`runners/segment/inputs.py`).
    return RenderBudget(profile=WORKER, seconds=step, deadline=time.monotonic() + step)


def _dumped(value: Any) -> tuple[str, str]:
    """Convert a value as the pipeline converts a step's inputs; return how that ended, and the
    error's message.
    """
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
    values, ticks = scope(), Ticks()
    for line in sys.stdin:
        given = json.loads(line)
        expression, step = (given, None) if isinstance(given, str) else given
        print(json.dumps(tried(expression, step, values, ticks)), flush=True)


if __name__ == "__main__":
    main()
