"""A process that renders expressions, watched from outside: ended when it does not answer."""

import json
import select
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

PATIENCE = 10.0


@dataclass
class Watched:
    """The child, started when it is needed and again after it was ended."""

    process: subprocess.Popen[str] | None = None

    def tried(self, expression: str) -> dict[str, Any]:
        """What the child says of one expression, or how it died."""
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz.expression_child"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.tried("1")  # what is loaded and compiled once
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(expression) + "\n")
        self.process.stdin.flush()
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        answer = self.process.stdout.readline() if ready else ""
        if answer:
            return dict(json.loads(answer))
        self.end()
        how = "died" if ready else f"held its process for {PATIENCE:g} s"
        return {"ended": "broke", "message": how, "cpu": PATIENCE, "kib": 0}

    def end(self) -> None:
        """End the child, if there is one."""
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None
