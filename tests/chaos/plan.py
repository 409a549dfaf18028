"""The random kills, computed beforehand from the seed only."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeVar

T = TypeVar("T")
Kind = Literal["child", "worker", "beat", "web"]
SHARES: dict[Kind, int] = {"child": 12, "worker": 3, "beat": 1, "web": 1}
EVERY = 1.5  # seconds from one kill to the next, on average


@dataclass(frozen=True, slots=True)
class Kill:
    """A kill of one of the processes that exist this number of seconds after the start.

    `choice` (0 to 1) selects one of them, so that a plan does not depend on process ids.
    """

    at: float
    kind: Kind
    choice: float

    def of(self, those: Sequence[T]) -> T | None:
        """Return the chosen one; None if there are none."""
        return those[int(self.choice * len(those))] if those else None


def kills(random: Random, seconds: float) -> list[Kill]:
    """Return kills at random moments within these seconds, in order."""
    kinds = random.choices(list(SHARES), list(SHARES.values()), k=round(seconds / EVERY))
    made = [Kill(random.uniform(0, seconds), kind, random.random()) for kind in kinds]
    return sorted(made, key=lambda kill: kill.at)
