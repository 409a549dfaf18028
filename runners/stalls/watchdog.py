"""The watchdog's program: `python -m runners.stalls.watchdog`, beside each worker.

It ends processes whose ticker stalls, and the one thread that used the processor meanwhile is
blamed; a process that uses none (stopped, swapped out) is left alone. Plain Python without Django:
it is small, and shares no fate with what it watches. It ends after its worker and all of the
worker's processes.
"""

import json
import os
import select
import signal
import sys
import time

from runners.process.activity_slots import SlotHead, heads, note_of, start_of
from runners.stalls import afterwards, cpu
from runners.stalls.afterwards import Stall
from runners.stalls.fencing import Fencer, say

SECOND = 1_000_000_000
LOOKS = 10  # for each limit: a stall is seen a tenth later than it could be
LEAST_PERIOD, MOST_PERIOD = 0.2, 1.0
SAMPLE = 0.5  # seconds between two looks at what threads use
# How long to wait for the blame: a process that stalls holds its steps' leases, and must end even
# where the database does not answer.
BLAME_SECONDS = 5.0


class Watchdog:
    """Watches the processes of one worker."""

    def __init__(
        self, descriptor: int, limit: float, parent: int, parent_start: int, fencer: Fencer
    ) -> None:
        self._descriptor = descriptor
        self._fencer = fencer
        self._limit = limit
        self._parent, self._parent_start = parent, parent_start
        self._period = min(MOST_PERIOD, max(LEAST_PERIOD, limit / LOOKS))
        self._lost: dict[tuple[int, int], int] = {}

    def watch(self) -> None:
        """Look again and again, until the worker and all its processes are gone."""
        last = time.monotonic()
        while True:
            found = [head for head in heads(self._descriptor) if _lives(head.pid, head.start)]
            if not found and not _lives(self._parent, self._parent_start):
                return
            # Who comes late was stopped or starved itself; so were the others, for no step's fault.
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
            if self._lost[key] > 1:  # once may be a thread that begins or ends right now
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
        before = cpu.usage(head.pid)
        _pause(SAMPLE)
        after = cpu.usage(head.pid)
        if before is None or after is None or self._moved(head):
            return
        thread = cpu.busiest(before, after, SAMPLE)
        if thread is None:
            return
        seconds = (time.monotonic_ns() - head.tick) / SECOND
        cause = f"it stalled its worker process for {seconds:.0f} s: no other thread could run"
        say(f"process {head.pid} has not run its threads for {seconds:.0f} s; it ends")
        note = note_of(self._descriptor, head.place, thread)
        blamed = note is not None and self._fencer.fence(note, cause, BLAME_SECONDS)
        # What was blamed is fenced by now. A process that came back meanwhile may stay.
        if not self._moved(head):
            _end(head)
        run, token = (str(note.run_id), note.token + 1) if note and blamed else ("", 0)
        try:
            afterwards.begin(Stall(head.pid, str(head.start), run, token, cause))
        except OSError as error:
            say(f"the steps of process {head.pid} are left to the sweeper ({error})")

    def _moved(self, head: SlotHead) -> bool:
        """Whether the process ticked since it was looked at, or is another one."""
        now = next((one for one in heads(self._descriptor) if one.place == head.place), None)
        return now is None or (now.pid, now.start, now.tick) != (head.pid, head.start, head.tick)


def _pause(seconds: float) -> None:
    """Wait, by a relative time: `time.sleep` computes an absolute one, and fails if clocks jump."""
    select.select((), (), (), seconds)


def _lives(pid: int, start: int) -> bool:
    return start_of(pid) == start


def _end(head: SlotHead) -> None:
    """Kill that very process, not one that has its number by now."""
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
    """Watch: the shared memory's descriptor, the limit in seconds, the worker's pid and start.

    Standard input says how to reach the database, since anybody can read a command line. The
    worker's children are those that execute steps, so this process does not stay one of them.
    """
    fencer = Fencer(json.loads(sys.stdin.read()))
    if child := os.fork():
        os.write(1, f"{child}\n".encode())
        os._exit(0)
    # The worker decides when all end; Ctrl-C reaches every process of a terminal.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    descriptor, limit, parent, start = sys.argv[1:]
    Watchdog(int(descriptor), float(limit), int(parent), int(start), fencer).watch()


if __name__ == "__main__":
    main()
