"""The watchdog's program: `python -m runners.stalls.watchdog`, beside a worker.

It ends a process that lacks its ticker or heartbeat thread, or whose ticker stalls; for a stall, it
blames the run of the thread that used the processor. A process that uses no processor time (swapped
out) is left alone. A process that is stopped while it executes steps is ended before its leases
expire, because it could resume after another worker took over.

It is plain Python without Django, so it is small and independent of problems of the watched
processes. It ends after its worker and all of the worker's processes have ended.
"""

import json
import os
import select
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runners.process.activity_slots import (
    EXECUTES,
    Note,
    SlotHead,
    heads,
    note_of,
    start_of,
    stat_of,
)
from runners.stalls import afterwards
from runners.stalls.afterwards import Stall

# Record the blamed run at once, with one statement, in a short-lived copy of the watchdog.
#
# A process with Django takes seconds to start on a busy machine, and the lease may end before that.
# So the run is fenced first, and `afterwards` does the rest. The statement is the usual one for
# releasing runs. It compares the token, so a run that was taken over does not count as a crash.


RELEASE = Path(__file__).parents[1] / "sql" / "release.sql"
EXECUTION = Path(__file__).parents[1] / "sql" / "execution_of.sql"
# The delay until the run is sent, so that `afterwards` can check the run's crashes first. After
# this delay, the run is sent even if `afterwards` fails.
DELAY_SECONDS = 15.0
LOOK_SECONDS = 0.02
FENCED, TAKEN_OVER = 0, 3


@dataclass(frozen=True, slots=True)
class Fencer:
    """Releases blamed runs; `connection` contains the arguments for `psycopg.connect`."""

    connection: Mapping[str, Any]

    def fence(self, note: Note, cause: str, seconds: float) -> bool:
        """Release a run within `seconds`; return False on failure, or if it was taken over."""
        child = os.fork()
        if child == 0:
            self._end(note, cause)
        until = time.monotonic() + seconds
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status) == FENCED
            if time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                say(f"no crash was counted for run {note.run_id} within {seconds:g} s")
                return False
            time.sleep(LOOK_SECONDS)

    def _end(self, note: Note, cause: str) -> None:
        code = 1
        try:
            code = FENCED if self._release(note, cause) else TAKEN_OVER
        except Exception as error:
            say(
                f"no crash could be counted for run {note.run_id} ({type(error).__name__}: {error})"
            )
        finally:
            os._exit(code)

    def _release(self, note: Note, cause: str) -> bool:
        import psycopg  # takes 20 MB, which the watchdog itself does not need

        values = {
            "run": note.run_id,
            "token": note.token,
            "lost": 1,
            # Between two steps of a segment, the next step has no run yet, so this run does not
            # count a crash. As a suspect, it is executed alone, and the next step gets its own run.
            "crashed": int(note.phase == EXECUTES),
            "cause": cause,
            "suspect": True,
            "delay": DELAY_SECONDS,
            "patience": 0.0,
        }
        # A connection pooler may be in between, so prepare no statements.
        with psycopg.connect(autocommit=True, prepare_threshold=None, **self.connection) as own:
            found = own.execute(EXECUTION.read_bytes(), values).fetchone()
            if found is None:
                return False
            values["execution"] = found[0]
            return bool(own.execute(RELEASE.read_bytes(), values).fetchall())


def say(message: str) -> None:
    """Write a line to the worker's log."""
    sys.stderr.write(f"watchdog: {message}\n")
    sys.stderr.flush()


# Find the thread of a process that uses the processor. This part does not import Django.


TICKS = os.sysconf("SC_CLK_TCK")
# Threads that wait for the interpreter lock wake every 5 ms; the lock's holder uses far more CPU.
LEAST_SHARE = 0.05  # fraction of a processor; a thread that uses less does not stall the process
HALF = 0.5  # fraction of the process's CPU use


@dataclass(frozen=True, slots=True)
class CpuUsage:
    """The clock ticks that a process's threads have used, and whether the process is stopped."""

    threads: dict[int, int]
    stopped: bool  # whether a signal or a debugger stopped the process


def usage(pid: int) -> CpuUsage | None:
    """Return the process's CPU use per thread, and whether it is stopped; None if it has ended."""
    try:
        names = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - pathlib is a megabyte here
    except OSError:
        return None
    threads = {}
    states = set()
    for name in names:
        fields = stat_of(f"/proc/{pid}/task/{name}/stat")
        if fields:
            states.add(fields[0])
            threads[int(name)] = int(fields[11]) + int(fields[12])
    return CpuUsage(threads, not states.isdisjoint("Tt"))


def busiest(before: CpuUsage, after: CpuUsage, seconds: float) -> int | None:
    """Return the ID of the thread that used most of the process's CPU time between two readings.

    Return None if no thread used most of the time, or if the process hardly used the processor
    because it was stopped, swapped out, or waiting.
    """
    if before.stopped or after.stopped:
        return None
    used = {
        thread: ticks - before.threads[thread]
        for thread, ticks in after.threads.items()
        if thread in before.threads
    }
    if not used:
        return None
    thread = max(used, key=used.__getitem__)
    least = max(2.0, LEAST_SHARE * seconds * TICKS)
    if used[thread] < least or used[thread] < HALF * sum(used.values()):
        return None
    return thread


SECOND = 1_000_000_000
LOOKS = 10  # checks per limit; a stall is detected at most a tenth of the limit late
LEAST_PERIOD, MOST_PERIOD = 0.2, 1.0
SAMPLE = 0.5  # seconds between two readings of the threads' CPU use
# The maximum wait for the record of the blamed run. A stalled process holds its steps' leases and
# must end even if the database does not respond.
BLAME_SECONDS = 5.0


class Watchdog:
    """Watches the processes of one worker."""

    def __init__(
        self,
        descriptor: int,
        limit: float,
        parent: int,
        parent_start: int,
        stopped: float,
        fencer: Fencer,
    ) -> None:
        """Set the limits, in seconds without a tick.

        `limit` is for a process that uses the processor, and `stopped` is for a stopped process.
        """
        self._descriptor = descriptor
        self._fencer = fencer
        self._limit, self._stopped = limit, stopped
        self._parent, self._parent_start = parent, parent_start
        self._period = min(MOST_PERIOD, max(LEAST_PERIOD, limit / LOOKS))
        self._lost: dict[tuple[int, int], int] = {}

    def watch(self) -> None:
        """Check the processes periodically, until the worker and all its processes have ended."""
        last = time.monotonic()
        while True:
            found = [head for head in heads(self._descriptor) if _lives(head.pid, head.start)]
            if not found and not _lives(self._parent, self._parent_start):
                return
            # A late check means that the watchdog was stopped or lacked CPU time. The other
            # processes then were too, so no step is to blame.
            now = time.monotonic()
            if now - last < 2 * self._period + SAMPLE:
                for head in found:
                    self._look(head)
            last = time.monotonic()
            _pause(self._period)

    def _look(self, head: SlotHead) -> None:
        if self._is_late(head):
            self._judge(head)
        elif self._lacks_a_thread(head):
            key = (head.pid, head.start)
            self._lost[key] = self._lost.get(key, 0) + 1
            if self._lost[key] > 1:  # a single time may be a thread that is starting or ending
                say(f"a thread that keeps process {head.pid} alive has ended; the process ends")
                _end(head)

    def _is_late(self, head: SlotHead) -> bool:
        return time.monotonic_ns() - head.tick > self._limit * SECOND

    def _lacks_a_thread(self, head: SlotHead) -> bool:
        return any(
            thread and not os.path.exists(f"/proc/{head.pid}/task/{thread}")  # noqa: PTH110
            for thread in (head.ticker, head.heart)
        )

    def _judge(self, head: SlotHead) -> None:
        before = usage(head.pid)
        _pause(SAMPLE)
        after = usage(head.pid)
        if before is None or after is None or self._moved(head):
            return
        seconds = (time.monotonic_ns() - head.tick) / SECOND
        if before.stopped and after.stopped and seconds > self._stopped:
            self._end_stopped(head, before, seconds)
            return
        thread = busiest(before, after, SAMPLE)
        if thread is None:
            return
        cause = f"it stalled its worker process for {seconds:.0f} s: no other thread could run"
        say(f"process {head.pid} has not run its threads for {seconds:.0f} s; it ends")
        note = note_of(self._descriptor, head.place, thread)
        blamed = note is not None and self._fencer.fence(note, cause, BLAME_SECONDS)
        # The blamed run is fenced now. If the process has recovered meanwhile, it may continue.
        if not self._moved(head):
            _end(head)
        run, token = (str(note.run_id), note.token + 1) if note and blamed else ("", 0)
        try:
            afterwards.begin(Stall(head.pid, str(head.start), run, token, cause))
        except OSError as error:
            say(f"the steps of process {head.pid} are left to the sweeper ({error})")

    def _end_stopped(self, head: SlotHead, used: CpuUsage, seconds: float) -> None:
        notes = (note_of(self._descriptor, head.place, thread) for thread in used.threads)
        if not any(note is not None and note.phase == EXECUTES for note in notes):
            return
        from runners.process import last_words  # rarely needed

        say(f"process {head.pid} was stopped for {seconds:.0f} s during a step; it ends")
        last_words.leave(head.pid)
        _end(head)
        last_words.forget_old()

    def _moved(self, head: SlotHead) -> bool:
        """Return whether the process has ticked or lost its slot since `head` was read."""
        now = next((one for one in heads(self._descriptor) if one.place == head.place), None)
        return now is None or (now.pid, now.start, now.tick) != (head.pid, head.start, head.tick)


def _pause(seconds: float) -> None:
    """Wait for `seconds`; unlike `time.sleep`, this does not fail if clocks jump."""
    select.select((), (), (), seconds)


def _lives(pid: int, start: int) -> bool:
    return start_of(pid) == start


def _end(head: SlotHead) -> None:
    """Kill the process of `head`, but not a new process with the same ID."""
    try:
        process = os.pidfd_open(head.pid)
    except OSError:
        return
    try:
        if _lives(head.pid, head.start):
            signal.pidfd_send_signal(process, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(process)


def main() -> None:
    """Watch a worker.

    The arguments are the shared memory's descriptor, the limit in seconds, the worker's PID and
    start time, and the number of seconds after which a stopped process must end. Standard input
    contains the database's parameters, because every user can read a command line. The program
    prints the watchdog's PID and exits, so that the watchdog is not the worker's child.
    """
    fencer = Fencer(json.loads(sys.stdin.read()))
    if child := os.fork():
        os.write(1, f"{child}\n".encode())
        os._exit(0)
    # Only the worker ends its processes, but Ctrl-C reaches all processes of a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    descriptor, limit, parent, start, stopped = sys.argv[1:]
    Watchdog(int(descriptor), float(limit), int(parent), int(start), float(stopped), fencer).watch()


if __name__ == "__main__":
    main()
