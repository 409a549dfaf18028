"""A process that renders expressions, watched from outside: it is ended if it does not answer."""

import json
import select
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

PATIENCE = 30.0  # of the clock, on a shared machine
STARTING = 120.0


@dataclass
class Watched:
    """The child, started when needed and again after it was ended."""

    process: subprocess.Popen[str] | None = None

    def tried(self, expression: str, step: float | None = None) -> dict[str, Any]:
        """Return the child's report on one expression, or how it ended.

        The child has the limits of a web process, or those of a worker and the seconds of a step.
        """
        if self.process is None:
            self._start()
        answer = self._answer(expression if step is None else [expression, step], PATIENCE)
        if answer:
            return dict(json.loads(answer))
        how = f"held its process for {PATIENCE:g} s"
        if self.process is not None and self.process.poll() is not None:
            how = f"ended its process: {self.process.returncode}"
        self.end()
        return {"ended": "broke", "message": how, "cpu": PATIENCE, "held": PATIENCE, "kib": 0}

    def _start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.expression_child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._answer("1", STARTING), "the child does not start"  # loads all that is needed

    def _answer(self, expression: str | list[Any], patience: float) -> str:
        assert self.process is not None
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(expression) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], patience)
        answer = self.process.stdout.readline() if ready else ""
        if ready and not answer:
            self.process.wait()
        return answer

    def end(self) -> None:
        """End the child, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
