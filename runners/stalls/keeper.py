"""Start a worker's watchdog from the main process before the pool starts; restart it if it ends."""

import json
import logging
import os
import subprocess
import sys
from dataclasses import dataclass

from runners.conf import config
from runners.pipeline.lease_guard import END_AT
from runners.process import activity_slots, own_connection
from runners.process.activity import DESCRIPTOR

log = logging.getLogger(__name__)

PROGRAM = "runners.stalls.watchdog"
START_SECONDS = 20.0


@dataclass(slots=True)
class Keeper:
    """Starts a worker's watchdog process and restarts it; no watchdog runs before `begin`."""

    pid: int = 0
    start: int = 0

    def begin(self) -> None:
        """Start the watchdog, if the system supports it and the stall limit is not 0."""
        if not (sys.platform.startswith("linux") and config().stall):
            return
        try:
            descriptor = activity_slots.create()
            os.set_inheritable(descriptor, True)  # the fork server for isolated steps inherits it
            os.environ[DESCRIPTOR] = str(descriptor)
            self._start()
        except (OSError, ValueError, subprocess.SubprocessError) as error:
            os.environ.pop(DESCRIPTOR, None)
            log.warning("this worker has no watchdog (%s); a step may stall it", error)

    def look(self) -> None:
        """Start the watchdog again if its process has ended."""
        if self.pid and activity_slots.start_of(self.pid) != self.start:
            log.warning("the watchdog ended; it starts again")
            try:
                self._start()
            except (OSError, ValueError, subprocess.SubprocessError) as error:
                log.warning("the watchdog could not be started (%s)", error)

    def _start(self) -> None:
        me = os.getpid()
        given = (
            os.environ[DESCRIPTOR],
            str(config().stall),
            str(me),
            str(activity_slots.start_of(me)),
            str(END_AT * config().lease),
        )
        done = subprocess.run(  # noqa: S603 - our own program
            # Without `site`, the process uses less memory. It needs only the standard library.
            [sys.executable, "-S", "-m", PROGRAM, *given],
            input=json.dumps(own_connection.parameters()).encode(),
            stdout=subprocess.PIPE,
            pass_fds=[int(given[0])],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            timeout=START_SECONDS,
            check=True,
        )
        self.pid = int(done.stdout)
        self.start = activity_slots.start_of(self.pid)
