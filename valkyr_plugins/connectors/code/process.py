"""Start a step's confined process, wait for its end, and convert its report into a result."""

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from runners.public.modules import ErrorType, Result, StepContext, StepError
from valkyr_plugins.connectors.code.sandbox import chosen

LOOK_SECONDS = 0.2
PATIENCE_SECONDS = 2.0
MAX_READ_BYTES = 9 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ProcessExit:
    """The exit code (128 plus the signal's number after a signal), report and printed text."""

    code: int
    report: bytes
    printed: bytes


def run(request: dict[str, Any], ctx: StepContext, engine: str = "") -> ProcessExit:
    """Run the code for at most `request["seconds"]` or the step's timeout. Raises StepError.

    `engine` is the path of the library that runs the code's language; "" for Python.
    """
    sandbox = chosen(engine)
    until = time.monotonic() + min(request["seconds"], ctx.remaining())
    with _memory("request") as given, _memory("report") as report, _memory("printed") as printed:
        os.write(given, sandbox.request(request))
        os.lseek(given, 0, os.SEEK_SET)
        process = _start(sandbox.command, given, report, printed)
        try:
            _wait(process, until, request["seconds"], ctx)
        finally:
            _end(process)
        return ProcessExit(process.returncode, _read(report), _read(printed))


def _start(
    command: tuple[str, ...], given: int, report: int, printed: int
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 - our own command, no part of it is given
        command,
        stdin=given,
        stdout=report,
        stderr=printed,
        env={},
        cwd="/",
        umask=0o022,
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], until: float, seconds: float, ctx: StepContext) -> None:
    while not _ended(process, min(LOOK_SECONDS, until - time.monotonic())):
        if ctx.cancelled():
            raise StepError("the execution was cancelled, and the code with it")
        if time.monotonic() > until:
            raise StepError(
                f"the code did not finish within {seconds:g} s: process less data, or raise "
                "`seconds`",
                ErrorType.TIMEOUT,
            )


def _ended(process: subprocess.Popen[bytes], seconds: float) -> bool:
    """Return whether the process ends within `seconds`, without the slow polling of Popen.wait."""
    handle = os.pidfd_open(process.pid)
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        poller.poll(max(0.0, 1000 * seconds))
    finally:
        os.close(handle)
    return process.poll() is not None


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ask the supervisor to end the code; if the supervisor does not end in time, kill both."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE_SECONDS)
    if process.poll() is None:
        # Kill the code's process first, because it is hard to find once its supervisor has ended.
        for pid in _children(process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()


def _children(pid: int) -> list[int]:
    try:
        return [
            int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        ]
    except OSError:
        return []


@contextmanager
def _memory(name: str) -> Iterator[int]:
    """Yield the descriptor of a file in memory; the confined process's file size limit applies."""
    handle = os.memfd_create(f"valkyr-{name}")
    try:
        yield handle
    finally:
        os.close(handle)


def _read(handle: int) -> bytes:
    return os.pread(handle, MAX_READ_BYTES, 0)


# Convert the end of a confined process into the result of its step.


MAX_LINES = 150
MAX_PRINTED = 128 * 1024
MAX_RESULT_BYTES = 6 * 1024 * 1024


def log_printed(printed: bytes, ctx: StepContext) -> None:
    """Log the non-empty lines that the code printed, each as an entry, up to a limit."""
    text = printed[:MAX_PRINTED].decode("utf-8", "replace")
    lines = [line for line in text.splitlines() if line.strip()]
    for line in lines[:MAX_LINES]:
        ctx.log.info(line)
    if len(printed) > MAX_PRINTED or len(lines) > MAX_LINES:
        ctx.log.warning("the code printed more than is kept", bytes=len(printed))


def result_of(ended: ProcessExit) -> Result:
    """Return the result of `main`. Raises StepError if the process ended in any other way."""
    report = _report(ended)
    if "refused" in report:
        raise StepError(str(report["refused"])[:1_000])
    if isinstance(report.get("error"), dict):
        raise _mistake(report["error"])
    if "result" not in report:
        raise _no_result(ended)
    return Result({"result": report["result"]})


def _report(ended: ProcessExit) -> dict[str, Any]:
    """Parse the report, into which the code could have written anything. Raises StepError."""
    if not ended.report:
        raise _no_result(ended)
    if len(ended.report) > MAX_RESULT_BYTES:
        raise StepError("the code's result is larger than 5 MiB: return less")
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
            f"the code ended its process (exit code {ended.code}) before main returned"
        )
    number = ended.code - 128
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    hint = "it used too much memory or recursed too deeply"
    return StepError(f"the code's process was ended by {name}: perhaps {hint}")
