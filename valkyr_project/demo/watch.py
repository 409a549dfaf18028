"""Following the executions: one line a second, until all have ended or time is up."""

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from valkyr_project.demo.client import Api

FINAL = frozenset({"SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"})
PATIENCE_SECONDS = 120.0


@dataclass
class DemoProgress:
    """The executions by id as last seen, and what their open dead letters say."""

    executions: dict[str, dict[str, Any]] = field(default_factory=dict)
    dead_letters: list[dict[str, Any]] = field(default_factory=list)
    retrying: int = 0
    seconds: float = 0.0

    @property
    def states(self) -> Counter[str]:
        """How many executions are in each state."""
        return Counter(row["state"] for row in self.executions.values())

    @property
    def ended(self) -> bool:
        """Whether every execution is in a final state."""
        return all(row["state"] in FINAL for row in self.executions.values())

    def line(self) -> str:
        """One line for the terminal."""
        running = sum(count for state, count in self.states.items() if state not in FINAL)
        return (
            f"{self.seconds:4.0f} s   succeeded {self.states['SUCCESS']:3}   "
            f"dead-lettered {len(self.dead_letters):2}   running {running:3} "
            f"(of these {self.retrying} wait for a retry)"
        )


@dataclass
class Watch:
    """Looks at `ids`, executions of one workflow; `since` is before the first one's createdAt."""

    api: Api
    workflow_id: str
    since: str
    ids: set[str]
    begun: float  # time.monotonic()

    def follow(self, patience: float = PATIENCE_SECONDS, *, quietly: bool = False) -> DemoProgress:
        """Look once a second until all have ended or `patience` seconds are over."""
        deadline = time.monotonic() + patience
        while True:
            progress = self._look()
            if not quietly:
                _show(progress)
            if progress.ended or time.monotonic() > deadline:
                return progress
            time.sleep(1.0)

    def _look(self) -> DemoProgress:
        executions = self.api.rows(
            "/v1/WorkflowExecution", workflowId=self.workflow_id, createdAfter=self.since
        )
        letters = self.api.rows(
            "/v1/DeadLetterQueue", workflowId=self.workflow_id, resolution="PENDING"
        )
        pending = self.api.rows("/v1/Run", state="PENDING")
        return DemoProgress(
            {row["id"]: row for row in executions if row["id"] in self.ids},
            [row for row in letters if row["executionId"] in self.ids],
            sum(row["attempt"] > 1 and row["executionId"] in self.ids for row in pending),
            time.monotonic() - self.begun,
        )


def _show(progress: DemoProgress) -> None:
    """Rewrite the terminal's line; where there is no terminal, write a new one."""
    if sys.stdout.isatty():
        end = "\n" if progress.ended else ""
        print(f"\r\x1b[K{progress.line()}", end=end, flush=True)
    else:
        print(progress.line(), flush=True)
