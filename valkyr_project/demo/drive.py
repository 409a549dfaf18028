"""Publish the workflow, send the orders and wait until the executions end."""

import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from valkyr_project.demo.client import Api, DemoError
from valkyr_project.demo.orders import FOLDER
from valkyr_project.demo.stack import Stack
from valkyr_project.up.environment import step_defaults

# Follow the executions and print one line per second, until all have ended or the time is over.


FINAL = frozenset({"SUCCESS", "FAILED", "CANCELLED", "TIMEOUT"})
PATIENCE_SECONDS = 120.0


@dataclass
class DemoProgress:
    """The executions by ID, as they were last read, and their open dead letters."""

    executions: dict[str, dict[str, Any]] = field(default_factory=dict)
    dead_letters: list[dict[str, Any]] = field(default_factory=list)
    retrying: int = 0
    seconds: float = 0.0

    @property
    def states(self) -> Counter[str]:
        """Return the number of executions in each state."""
        return Counter(row["state"] for row in self.executions.values())

    @property
    def ended(self) -> bool:
        """Return whether every execution is in a final state."""
        return all(row["state"] in FINAL for row in self.executions.values())

    def line(self) -> str:
        """Return the progress as one line for the terminal."""
        running = sum(count for state, count in self.states.items() if state not in FINAL)
        return (
            f"{self.seconds:4.0f} s   succeeded {self.states['SUCCESS']:3}   "
            f"dead-lettered {len(self.dead_letters):2}   running {running:3} "
            f"(of these {self.retrying} wait for a retry)"
        )


@dataclass
class Watch:
    """Watches `ids`, executions of one workflow; `since` is a time before the first one started."""

    api: Api
    workflow_id: str
    since: str
    ids: set[str]
    begun: float  # time.monotonic()

    def follow(self, patience: float = PATIENCE_SECONDS, *, quietly: bool = False) -> DemoProgress:
        """Return the progress when all executions have ended, or after `patience` seconds."""
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
    """Show the progress: rewrite the terminal's last line; without a terminal, print a line."""
    if sys.stdout.isatty():
        end = "\n" if progress.ended else ""
        print(f"\r\x1b[K{progress.line()}", end=end, flush=True)
    else:
        print(progress.line(), flush=True)


SLUG = "order-import"
ONE_BY_ONE = 3  # the first orders use `execute`, the others one batch
FIRST_SECONDS = 30.0
PARTNER = re.compile(r"^( +partner:) \S+", re.MULTILINE)


def definition(partner_url: str) -> str:
    """Return the YAML of the example, with the partner's URL in it."""
    text = (FOLDER / "workflow.yaml").read_text()
    return PARTNER.sub(rf"\1 {partner_url}", text, count=1)


def drive(api: Api, stack: Stack, partner_url: str, orders: list[dict[str, Any]]) -> DemoProgress:
    """Send every order, and the first order twice with one key; return the final progress."""
    workflow = api.import_workflow(definition(partner_url), SLUG)
    version = api.publish(workflow)
    print(f"{SLUG} is published as version {version}; its steps call {partner_url}.")
    begun = time.monotonic()
    started = _one_by_one(api, workflow, orders[:ONE_BY_ONE])
    since = datetime.fromisoformat(started[0]["createdAt"]) - timedelta(seconds=1)
    watch = Watch(api, workflow, since.isoformat(), {row["id"] for row in started}, begun)
    _require_settings(watch.follow(FIRST_SECONDS, quietly=True), stack)
    watch.ids |= set(api.execute_batch(workflow, orders[ONE_BY_ONE:]))
    print(f"{len(watch.ids)} orders are accepted.\n", flush=True)
    return watch.follow()


def _one_by_one(api: Api, workflow: str, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Start each order with its own key; repeat the first. Raises DemoError if it starts twice."""
    stamp = int(time.time() * 1000)
    started = [api.execute(workflow, order, f"demo-{stamp}-{order['orderId']}") for order in orders]
    first = orders[0]["orderId"]
    again = api.execute(workflow, orders[0], f"demo-{stamp}-{first}")
    if again["id"] != started[0]["id"]:
        raise DemoError(f"{first} was sent twice with one Idempotency-Key and started twice.")
    print(f"{first} was sent twice with one Idempotency-Key and runs once.")
    return started


def _require_settings(progress: DemoProgress, stack: Stack) -> None:
    """Raise DemoError if the first orders did not all end, or if one of them left a dead letter."""
    if not progress.ended:
        raise DemoError(
            f"The first {len(progress.executions)} orders did not end within {FIRST_SECONDS:.0f} "
            f"s. Are the workers alive? Look at {stack.flower_url} and {stack.home / 'logs'}."
        )
    for letter in progress.dead_letters:
        reason = letter["failureReason"]
        settings = step_defaults(stack.home) | {"VALKYR_HTTP_ALLOWED_NETWORKS": "127.0.0.0/8"}
        if any(name in reason for name in settings):
            lines = "".join(f"  export {name}={value}\n" for name, value in settings.items())
            raise DemoError(
                f"The workers refused a step: {reason}\nStop the stack and start it again "
                f"after\n{lines.rstrip()}"
            )
        raise DemoError(f"The first orders should succeed, but {letter['stepPath']}: {reason}")
