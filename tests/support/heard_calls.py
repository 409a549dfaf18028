"""The calls of `test.knocker` that a partner received, compared with their leases."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID

from runners.models import Run
from tests.support.partner import Partner


class HeardCall(NamedTuple):
    """One call: when the partner received it, and under which lease."""

    at: float  # time.time()
    token: int
    pid: int


@dataclass
class HeardCalls:
    """The calls that the partner received, and the end of each first holder's lease."""

    partner: Partner
    leases: dict[str, float] = field(default_factory=dict)

    def of(self, run: Any) -> list[HeardCall]:
        """Return the calls for one run, in order."""
        found = []
        for request in list(self.partner.received):
            if "at" not in request or not request["body"].endswith("}"):
                continue  # a process that was killed during its call has called no one
            told = json.loads(request["body"])
            if told["run"] == str(run):
                found.append(HeardCall(request["at"], told["token"], told["pid"]))
        return found

    def split(self, run: Any) -> tuple[list[float], list[float]]:
        """Return the times of the first holder's calls, and those of other holders."""
        calls = self.of(run)
        return [c.at for c in calls if c.token == 1], [c.at for c in calls if c.token != 1]

    def taken_over(self, ids: Collection[UUID]) -> bool:
        """Record the leases of first holders; return whether every run has been taken from them."""
        held = Run.objects.filter(
            execution_id__in=ids, module="test.knocker", lease_token=1, lease_until__isnull=False
        )
        first = dict(held.values_list("pk", "lease_until"))
        self.leases |= {str(run): until.timestamp() for run, until in first.items()}
        return not first
