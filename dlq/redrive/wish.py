"""What somebody wants of a redrive: which scope, how fast, how careful."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from dlq.models import RedriveScope

PINNED, LATEST = "pinned", "latest"


@dataclass(frozen=True, slots=True)
class Wish:
    """A redrive as it is asked for.

    `selection` is kept as it was asked, for people; which entries it means is said apart. With
    scope FROM, an empty `from_step` is each entry's own step. `version` (pinned, latest or a
    number) concerns new executions only. `overrides` is a JSON merge patch (RFC 7396) of the
    inputs of the step that runs first (scope EXECUTION: of the payload); `expression` gives each
    entry's patch from `inputs`, `error`, `attempts` and `entry`. `rate` is a second; without one
    it goes as fast as it can. `canary` so many go first and are waited for. It stops when more
    than `stop_above` per cent of the last `stop_window` that ended failed again.
    """

    selection: Any = field(default_factory=dict)
    group_id: UUID | None = None
    scope: str = RedriveScope.STEP
    from_step: str = ""
    version: str | int = PINNED
    overrides: Any = None
    expression: str = ""
    rate: float | None = None
    max_in_flight: int | None = None
    canary: int = 0
    stop_above: float | None = None
    stop_window: int = 100
    reason: str = ""
