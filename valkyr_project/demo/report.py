"""The final table: the results, the expected values, and what to do next."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from valkyr_project.demo.drive import DemoProgress
from valkyr_project.demo.orders import Expected
from valkyr_project.demo.partner import Ledger
from valkyr_project.demo.stack import Stack

WIDTH = 48


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the table; `expected` is None if any value is acceptable."""

    text: str
    found: int
    expected: int | None = None

    @property
    def good(self) -> bool:
        """Return whether the figure is as expected; True if any figure is acceptable."""
        return self.expected in (None, self.found)

    def line(self) -> str:
        """Return the line as text, with a mark if a figure was expected."""
        if self.expected is None:
            return f"  {self.text:<{WIDTH}}{self.found:>6}"
        mark = "as expected" if self.good else f"EXPECTED {self.expected}"
        return f"  {self.text:<{WIDTH}}{self.found:>6}   {mark}"


def facts(
    progress: DemoProgress, ledger: Ledger, mails: int | None, expected: Expected
) -> list[Fact]:
    """Return the lines of the demo's table; `mails` is None if emails cannot be counted."""
    states = progress.states
    metrics = [row.get("metricsSnapshot") or {} for row in progress.executions.values()]
    found = [
        Fact("executions succeeded", states["SUCCESS"], expected.succeeded),
        Fact("executions failed, waiting for a person", states["FAILED"], expected.dead.total()),
        Fact("steps done", _sum(metrics, "steps")),
        Fact("steps retried", _sum(metrics, "retries")),
        *_dead_letters(progress.dead_letters, expected.dead),
        Fact("cards charged by the partner", ledger.done("charges"), expected.charged),
        Fact("repeated requests recognised by their Idempotency-Key", ledger.repeats.total()),
        Fact("operations that the partner did twice", ledger.doubled(), 0),
        Fact("refunds after a charge failed", ledger.done("refunds"), expected.refunded),
    ]
    if mails is not None:
        found.append(Fact("confirmation mails", mails, expected.succeeded - expected.refunded))
    return found


def _sum(metrics: Iterable[dict[str, Any]], name: str) -> int:
    return sum(int(figures.get(name) or 0) for figures in metrics)


def _dead_letters(letters: list[dict[str, Any]], expected: Counter[str]) -> list[Fact]:
    """Return a line for each step that has dead letters, or that is expected to have some."""
    types = {letter["stepPath"]: letter["failureType"] for letter in letters}
    found = Counter(letter["stepPath"] for letter in letters)
    return [
        Fact(f"dead letters: {path} ({types.get(path, 'none')})", found[path], expected[path])
        for path in sorted(found.keys() | expected.keys())
    ]


def table(found: list[Fact], seconds: float) -> str:
    """Return the lines as text under a title with the duration."""
    lines = [f"What happened in {seconds:.0f} s:", "", *(fact.line() for fact in found)]
    return "\n".join(lines)


def next_steps(stack: Stack, letters: list[dict[str, Any]], partner_stays: bool) -> str:
    """Return text with links to open next, and the command that requeues a dead letter."""
    admin = f"{stack.url}/admin"
    parts = [
        "Where to look next:",
        "",
        f"  executions     {admin}/executions/workflowexecution/",
        f"  failures       {admin}/dlq/failuregroup/",
        f"  dead letters   {admin}/dlq/deadletterentry/?resolution=open",
        f"  Flower         {stack.flower_url}/tasks (what runs from then on)",
        f"  sign in as     {stack.username}, with the passwords in {stack.home / 'secrets.env'}",
    ]
    mended = next((row for row in letters if row["stepPath"] == "validate.main"), None)
    if mended is not None:
        parts += ["", _requeue(stack, mended["id"])]
    parts += [
        "",
        "  In the admin, requeue `ship.main` without changes: the carrier answers again."
        if partner_stays
        else (
            "  The partner stopped with this command, so a requeued step cannot reach it; `make "
            "demo ARGS=--stay` keeps it running."
        ),
    ]
    return "\n".join(parts)


def _requeue(stack: Stack, entry: str) -> str:
    secrets = stack.home / "secrets.env"
    return f"""\
  Fix the mail address of a dead order, and its execution goes on from there:

    . '{secrets}'
    TOKEN=$(curl -s {stack.url}/v1/auth/token -H 'Content-Type: application/json' \\
      -d '{{"username": "{stack.username}", "password": "'"$VALKYR_ADMIN_PASSWORD"'"}}' \\
      | python3 -c 'import json, sys; print(json.load(sys.stdin)["access"])')
    curl -s {stack.url}/v1/DeadLetterQueue/{entry}/requeue \\
      -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
      -d '{{"data": "fixed@example.com"}}'"""
