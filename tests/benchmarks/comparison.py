"""This run compared with the last committed one: CPU milliseconds per step and ratios, never rates.

A rate depends on the machine's load. CPU per step is the engine's cost on such a machine. A ratio
to plain Celery, run alternately on the same machine, is comparable between machines.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

# Higher is better for these; lower for CPU.
RATIOS = re.compile(r"^(W\w+|shipped\.[\w-]+)\.(ratio|cpu_ratio)$")
CPU = re.compile(r"^(W\w+|backlog|shipped\.[\w-]+)\.cpu_ms(\.(engine|database|broker))?$")
NOTEWORTHY = 0.10


@dataclass(frozen=True, slots=True)
class Difference:
    """One figure in both runs."""

    figure: str
    last: float
    new: float

    @property
    def change(self) -> float:
        """The change as a share of the last value."""
        return self.new / self.last - 1

    @property
    def mark(self) -> str:
        """Return `WORSE` or `better` for a change of more than a tenth, otherwise ""."""
        if abs(self.change) <= NOTEWORTHY:
            return ""
        rose = self.change > 0
        return "better" if rose == bool(RATIOS.match(self.figure)) else "WORSE"


def differences(new: Mapping[str, float], last: Mapping[str, float]) -> list[Difference]:
    """Return the figures that both runs have and that can be compared, in the order of the new
    run.
    """
    return [
        Difference(name, last[name], value)
        for name, value in new.items()
        if last.get(name) and (RATIOS.match(name) or CPU.match(name))
    ]
