"""Run a step's code, and report the result in JSON.

Everything here happens in the confined process, so its report is not trusted.
"""

import errno
import json
import linecache
import traceback
from types import TracebackType
from typing import Any

NAME = "<code>"
MAX_RESULT_BYTES = 5 * 1024 * 1024
MAX_FRAMES = 20
MAX_TEXT = 1_500


def report(code: str, inputs: Any) -> bytes:
    """Return `{"result": …}` of `main(inputs)`, or `{"error": …}`. Never raises."""
    try:
        return _run(code, inputs)
    except BaseException as error:
        # Includes SystemExit and KeyboardInterrupt, because the code may raise anything.
        return _told(error)


def _run(code: str, inputs: Any) -> bytes:
    linecache.cache[NAME] = (len(code), None, code.splitlines(keepends=True), NAME)
    names: dict[str, Any] = {"__name__": "code"}
    exec(compile(code, NAME, "exec", dont_inherit=True), names)  # noqa: S102 - it is what we are for
    main = names.get("main")
    if not callable(main):
        return error_report(
            "Missing", "the code defines no function main: write `def main(inputs):`"
        )
    result = main(inputs)
    try:
        said = json.dumps({"result": result}, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        told = str(error)[:200]
        return error_report(
            "Result", f"the value that main returned cannot be written as JSON: {told}"
        )
    if len(said) > MAX_RESULT_BYTES:
        return error_report(
            "Result", "the value that main returned is larger than 5 MiB: return less"
        )
    return said


def _told(error: BaseException) -> bytes:
    try:
        return error_report(type(error).__name__, _message(error), _frames(error))
    except Exception:
        # Third-party code in __str__ may raise anything.
        return error_report(type(error).__name__, "its message could not be read")


def _message(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "the code needed more memory than its memoryMb: process less data, or raise memoryMb"
    if isinstance(error, SystemExit):
        return "the code called sys.exit: return from main instead"
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "the code printed, or wrote into one file, more than 8 MiB"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the code wrote more than the 16 MiB that /tmp holds"
    if isinstance(error, SyntaxError):
        return f"{error.msg} (line {error.lineno})"
    return str(error)[:MAX_TEXT]


def _frames(error: BaseException) -> list[dict[str, Any]]:
    """Return the innermost MAX_FRAMES frames in the step's code, the innermost last."""
    found: TracebackType | None = error.__traceback__
    own = [frame for frame in traceback.extract_tb(found) if frame.filename == NAME]
    return [
        {"line": frame.lineno, "in": frame.name, "code": (frame.line or "")[:200]}
        for frame in own[-MAX_FRAMES:]
    ]


def error_report(kind: str, message: str, frames: list[dict[str, Any]] | None = None) -> bytes:
    """Return the JSON report of an error; the last of its frames is the innermost."""
    told = {"type": kind, "message": message, "frames": frames or []}
    return json.dumps({"error": told}).encode()
