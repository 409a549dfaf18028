"""A live run as a worker found it, before it tries to claim it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from executions.definition.graph.model import Step


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A live run as it was when looked at; the claim compares the token."""

    id: UUID
    step: Step
    attempt: int
    budget: int
    state: str
    token: int
    leased_by: str
    crashes: int
    suspect: bool
    overrides: Any
    details: Any
    expired: bool
    waits_for: str = ""
    wake: Any = None  # what ended its wait
    inputs: Any = None  # as they were when it began to wait
