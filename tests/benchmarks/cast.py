"""The processes of one measurement, and the servers that they use."""

import math
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.programs import Program


@dataclass(frozen=True, slots=True)
class Server:
    """The root of a server's process tree."""

    pid: int


@dataclass
class Cast:
    """The processes of a part: those that end with it, and servers that others end."""

    folder: Path
    postgres: Server
    redis: Server
    programs: list[Program] = field(default_factory=list)
    until: float = math.inf  # the monotonic time limit of the current measurement

    def add(self, program: Program) -> Program:
        """Add a process that ends with the measurement."""
        self.programs.append(program)
        return program

    def end(self, program: Program) -> None:
        """End a process now."""
        self.programs.remove(program)
        program.stop()

    def end_all(self) -> None:
        """End the running processes in the reverse order of their start."""
        while self.programs:
            self.programs.pop().stop()

    def last_lines(self) -> str:
        """Return the last lines of each process's log; the logs are deleted with the stage's
        folder.
        """
        return "\n".join(f"--- {one.name}\n{one.last_lines()}" for one in self.programs)

    def check(self) -> None:
        """Raise if a process that should run has ended, or the time limit has passed."""
        if time.monotonic() > self.until:
            raise TimeoutError(f"given up: it takes too long.\n{self.last_lines()}")
        for program in self.programs:
            program.check()
