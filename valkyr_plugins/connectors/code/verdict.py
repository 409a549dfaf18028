"""What a confined process's end means for its step."""

import json
import signal
from typing import Any, NoReturn

from runners.public.modules import Result, StepContext, StepError
from valkyr_plugins.connectors.code.process import ProcessExit

MAX_LINES = 150
MAX_PRINTED = 128 * 1024
MAX_RESULT_BYTES = 6 * 1024 * 1024


def log_printed(printed: bytes, ctx: StepContext) -> None:
    """What the code printed, a line an entry, into the run's log."""
    text = printed[:MAX_PRINTED].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:MAX_LINES]:
        ctx.log.info(line)
    if len(printed) > MAX_PRINTED or len(lines) > MAX_LINES:
        ctx.log.warning("the code printed more than is kept", bytes=len(printed))


def result_of(ended: ProcessExit) -> Result:
    """What `main` gave back; raises StepError for every other end."""
    report = _report(ended)
    if "refused" in report:
        raise StepError(str(report["refused"])[:1_000])
    if isinstance(report.get("error"), dict):
        raise _mistake(report["error"])
    if "result" not in report:
        raise _no_result(ended)
    return Result({"result": report["result"]})


def _report(ended: ProcessExit) -> dict[str, Any]:
    """The code could have written anything there, so nothing is presumed of it."""
    if not ended.report:
        raise _no_result(ended)
    if len(ended.report) > MAX_RESULT_BYTES:
        raise StepError("the code's report is larger than 5 MiB: give back less")
    try:
        report = json.loads(ended.report, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise _no_result(ended) from None
    if not isinstance(report, dict):
        raise _no_result(ended)
    return report


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _mistake(error: dict[str, Any]) -> StepError:
    frames = error.get("frames")
    frames = [frame for frame in frames if isinstance(frame, dict)] if frames else []
    where = f" (line {frames[-1].get('line')}, in {frames[-1].get('in')})" if frames else ""
    kind, message = str(error.get("type"))[:100], str(error.get("message"))[:1_500]
    return StepError(f"{kind}: {message}{where}", details={"type": kind, "frames": frames[:20]})


def _no_result(ended: ProcessExit) -> StepError:
    if ended.code <= 128:
        return StepError(
            f"the code ended its process (exit code {ended.code}) before main gave anything back"
        )
    number = ended.code - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    hint = "it asked for too much memory or recursed too deep"
    return StepError(f"the code's process was ended by {name}: perhaps {hint}")
