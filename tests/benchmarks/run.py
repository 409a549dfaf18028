"""One run: its parts one after another, each reported, measured and limited in time."""

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.benchmarks import databases
from tests.benchmarks.figures import Figures
from tests.benchmarks.options import Options
from tests.benchmarks.plan import PARTS
from tests.benchmarks.stage import Stage
from tests.benchmarks.talk import say

SECONDS = "seconds."  # names the figures of each part's duration


@dataclass
class Run:
    """The results so far, and the parts that could not be measured."""

    stage: Stage
    options: Options
    figures: Figures = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    def take(self, name: str, measure: Callable[[], Figures]) -> None:
        """Measure one part if it was selected. If it fails, report that and continue with the
        others.

        An interrupted part counts as failed.
        """
        if name not in self.options.only:
            return
        part, began = PARTS[name], time.monotonic()
        say(f"{name}: {part.title} (usually {part.usual:.0f} s, {part.patience:.0f} at most)")
        self.stage.until = began + part.patience
        try:
            self.figures |= measure()
        except BaseException as error:
            self.failed.append(name)
            if not isinstance(error, Exception):
                raise
            say(f"{name} FAILED: {type(error).__name__}: {error}")
        finally:
            self._clear()
            self.figures[SECONDS + name] = time.monotonic() - began

    @property
    def missing(self) -> list[str]:
        """Return the parts that were selected and not measured."""
        return [
            name
            for name in self.options.only
            if name in self.failed or SECONDS + name not in self.figures
        ]

    def _clear(self) -> None:
        """End what a part started, and delete its messages, so that no later worker executes them.

        W5 alone leaves tens of thousands, which the next worker would process first.
        """
        from django.db import connection

        self.stage.end_all()
        connection.close()
        for address in ("REDIS_URL", "BENCH_PLAIN_REDIS_URL"):
            databases.forget(os.environ[address])
