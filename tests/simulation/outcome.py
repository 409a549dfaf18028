"""What became of a seed."""

import hashlib
from collections import Counter
from dataclasses import dataclass


@dataclass
class Outcome:
    """What became of a seed."""

    seed: int
    problems: list[str]
    trace: list[str]
    counts: Counter[str]
    seconds: float

    @property
    def digest(self) -> str:
        """The same for the same seed."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()[:16]
