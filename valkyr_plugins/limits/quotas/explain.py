"""Why a quota holds a step back: pure, from what the gate noted when it did."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from runners.public.explain import HeldRuns, Reason, at
from runners.public.models import Run

RAISE = "Who configures the workspace may raise the quota"


def reasons(held: HeldRuns) -> Mapping[UUID, Reason]:
    """Return why each of these runs waits."""
    return {run.pk: held_reason(run, held.since[run.pk]) for run in held.runs}


def held_reason(run: Run, since: datetime | None) -> Reason:
    """The quota that is used up, until when, and what may be done."""
    facts = run.progress or {}
    limit, used = int(facts.get("limit") or 0), int(facts.get("used") or 0)
    what = described(facts)
    if facts.get("window"):
        sentence = (
            f"The {what} is used up: {used:,} of {limit:,} this {facts['window']} (UTC). "
            f"It goes on at {at(run.due_at)}, when the next begins."
        )
    else:
        sentence = (
            f"The {what} lets {limit:,} run at once, and {used:,} do. It goes on when one of them "
            f"ends; it looks again at {at(run.due_at)}."
        )
    return Reason(
        "waiting_for_quota",
        f"{sentence} {RAISE}; no attempt is used.",
        since=since,
        until=run.due_at,
        details=dict(facts),
    )


def described(facts: Any) -> str:
    """The quota in a few words: whose it is, and on what."""
    whose = "this workspace's" if facts.get("of") == "workspace" else "the starting user's"
    target = str(facts.get("target") or "")
    if facts.get("resource") == "tokens":
        return f"quota on tokens of {target or 'all models'} ({whose})"
    return f"quota on steps of {target} ({whose})"
