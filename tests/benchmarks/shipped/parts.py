"""The parts of `--only shipped`."""

from collections.abc import Callable

from tests.benchmarks.figures import Figures
from tests.benchmarks.run import Run
from tests.benchmarks.shipped import full_tables, one_by_one, rounds
from tests.benchmarks.shipped.homes import Homes
from tests.benchmarks.shipped.loads import LOADS


def measure(run: Run) -> None:
    """Measure each selected part, on its own stacks."""
    stage, options = run.stage, run.options
    homes = Homes(stage.folder, options.concurrency)

    def load(part: str) -> Callable[[], Figures]:
        return lambda: rounds.measure(stage, options, homes, part)

    for part in LOADS:
        run.take(part, load(part))
    run.take("shipped-http", lambda: one_by_one.measure(stage, options, homes))
    run.take("shipped-full", lambda: full_tables.measure(stage, options, homes))
