"""The budget of one rendering: work, memory and time over all its expressions.

Operators, filters and methods whose work can be large call `spend` before they work, and `hold` for
their results. So no expression can block a process or fill its memory. Work and memory are counted,
not measured: the same template with the same scope spends the same everywhere. The clock, read
occasionally, ends anything that the counts miss.

    RenderBudget()                                    the limits of this kind of process
    RenderBudget(seconds=5, deadline=monotonic() + 5) the same, within the time limit of a step
    RenderBudget(profile=WEB)                         the limits of a web process, in any process
    begin_request() … end_request()                   the same for everything a request renders
    while_planning()                                  while an execution's row is locked
"""

import os
import time
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from executions.definition.templating.errors import OutOfTime, TooLarge

# Prefixes of `VALKYR_PROCESS` of processes that serve many callers at once.
WEB_PROCESSES = ("web",)
SHARED_PROCESSES = (*WEB_PROCESSES, "beat", "consumer")
# Prefixes of control processes, each of which plans, sweeps and delivers for all workspaces.
CONTROL_PROCESSES = ("worker-control",)

LOOK_EVERY = 10_000  # units between two checks of the clock: about half a millisecond
_PAGING = 6  # memory that is new to a process costs about one unit per 2**6 bytes
MOST_AT_ONCE = 4_000_000  # maximum units of one call into C, during which no other thread runs


@dataclass(frozen=True, slots=True)
class Profile:
    """Limits of one rendering.

    A unit of `work` is about 50 ns of one core. `memory` is in bytes and counts everything built,
    including what was discarded. `seconds` are seconds of CPU time of the thread.
    """

    name: str
    work: int
    memory: int
    seconds: float


WEB = Profile("web", work=600_000, memory=48 * 1024 * 1024, seconds=0.045)
CONTROL = Profile("control", work=6_000_000, memory=96 * 1024 * 1024, seconds=0.5)
WORKER = Profile("worker", work=40_000_000, memory=160 * 1024 * 1024, seconds=5.0)


# Whether a request is being handled: a project's own web process has no such name.
_in_request: ContextVar[bool] = ContextVar("in_request", default=False)


def begin_request(**_: Any) -> None:
    """Limit this thread's or task's rendering as in web processes; receives `request_started`."""
    _in_request.set(True)


def end_request(**_: Any) -> None:
    """Remove the limits that `begin_request` set."""
    _in_request.set(False)


def current_profile() -> Profile:
    """Return the limits of a rendering that begins now."""
    return WEB if _in_request.get() else profile_of_process()


def process_is(beginnings: tuple[str, ...]) -> bool:
    """Return whether the process's name has one of these prefixes, as `web-8000` has `web`."""
    return os.environ.get("VALKYR_PROCESS", "").startswith(beginnings)


def profile_of_process() -> Profile:
    """Return the limits for this kind of process (`VALKYR_PROCESS`)."""
    if process_is(SHARED_PROCESSES):
        return WEB
    return CONTROL if process_is(CONTROL_PROCESSES) else WORKER


class RenderBudget:
    """The remaining limits of one or more renderings. Do not share it between threads."""

    __slots__ = (
        "_before", "_began", "_deadline", "_look_at", "_looked", "_profile", "_seconds", "memory",
        "work",
    )  # fmt: skip

    def __init__(
        self,
        *,
        profile: Profile | None = None,
        seconds: float | None = None,
        deadline: float | None = None,
    ) -> None:
        """Create a budget.

        `seconds` lowers the profile's limit of CPU time; `deadline` is a time of `time.monotonic`.
        """
        if profile is None:
            profile = current_profile()
        self._profile = profile
        self.work = profile.work
        self.memory = profile.memory
        self._seconds = profile.seconds if seconds is None else min(seconds, profile.seconds)
        self._deadline = deadline
        self._before = 0.0  # seconds of earlier renderings
        self._began = self._looked = -1.0
        self._look_at = self.work - LOOK_EVERY

    def resume(self) -> None:
        """Continue with another rendering, without counting the thread's time in between."""
        if self._began >= 0:
            self._before += self._looked - self._began
        self._began = self._looked = time.thread_time()

    def spend(self, units: int) -> None:
        """Count work before it is done. Raises TooLarge or OutOfTime if a limit is exceeded."""
        self.work -= units
        if self.work < self._look_at:
            self._look(units)

    def hold(self, size: int) -> None:
        """Count bytes to build, and the work of allocating them. Raises TooLarge or OutOfTime."""
        self.spend(size >> _PAGING)
        self.memory -= size
        if self.memory < 0:
            raise TooLarge(
                f"the template builds more than {self._profile.memory // 1024**2} MiB of values; "
                "split it into steps, or use a module for large data"
            )

    def _look(self, units: int) -> None:
        if self.work < 0:
            raise TooLarge(
                f"the template needs more work than a {self._profile.name} process allows "
                f"({self._profile.work:,} units); use fewer items, or a module such as python.code"
            )
        if units > MOST_AT_ONCE:
            raise TooLarge(
                "one operation of the template would compare, sort or copy too many values at "
                "once; use fewer items"
            )
        self._look_at = self.work - LOOK_EVERY
        self._looked = now = time.thread_time()
        if self._began < 0:
            self._began = now
        elif self._before + now - self._began > self._seconds:
            raise OutOfTime(f"rendering took more than {self._seconds:g} s of CPU time")
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise OutOfTime("rendering did not end within the time limit of the step")


def while_planning() -> RenderBudget:
    """Return the budget of a loop's condition or a workflow's output, equal in every worker.

    These templates are rendered while the execution is locked, often in the control worker. A
    template that is too costly there fails in every worker.
    """
    return RenderBudget(profile=CONTROL if current_profile() is WORKER else None)
