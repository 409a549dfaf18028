"""What a redrive would do, before it does it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Skipped:
    """So many entries will not run, for one reason."""

    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class Effect:
    """A step with effects outside that so many entries let run again; iterations as `[]`."""

    step: str
    module: str
    effect: str  # "idempotent" | "external"
    count: int


@dataclass(frozen=True, slots=True)
class Sample:
    """What the overrides make of one entry's inputs; payloads, so not for everybody."""

    entry_id: UUID
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Rejected:
    """An entry whose changed inputs its module would not take, and why."""

    entry_id: UUID
    problems: list[str]


@dataclass(frozen=True, slots=True)
class VersionChange:
    """How the definition differs between the version that failed and the one that will run."""

    before: int
    after: int
    changes: list[str]
    more: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """How many run, who is left out, what happens again outside, and how long it takes.

    Overrides were tried on `checked` entries; at most 100 rejects are listed. `seconds` is an
    estimate of the sending, at the chosen pace or at what was measured.
    """

    runs: int
    skipped: list[Skipped]
    effects: list[Effect]
    samples: list[Sample]
    rejected: list[Rejected]
    checked: int
    seconds: float
    definition_changes: list[VersionChange]
    truncated: bool = False  # there were more entries than one redrive takes


def preview(redrive_id: UUID) -> Preview:
    """Look at a redrive's entries as they are now; changes nothing. Raises NotFound."""
    raise NotImplementedError
