"""Store counters in the process or, for a prefork worker, in files whose counts the parent sums.

A file belongs to a *slot* of the pool, not to a process: the process that replaces an ended child
continues in the same file. So no file remains unused, and no count is lost with a process. A worker
declares at its start, before it counts, that it is a prefork worker.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import psutil
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import REGISTRY, Collector

from executions.configuration import settings as valkyr_settings
from executions.vendor_seams.billiard_slots import slot
from executions.vendor_seams.prometheus_values import keep_in_files

__all__ = ["Counter", "Gauge", "Histogram", "registry"]

# Buckets in seconds, from a local message to a wait of a minute in a queue.
LATENCIES = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
# Buckets in seconds, from a short computation to the training of a model.
DURATIONS = (0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800)
OURS = "valkyr_"
FIRST = "-"  # the first database, which has no name
_slot = "parent"
_folder: Path | None = None


def port() -> int:
    """Return the metrics port of processes other than web processes; 0 means no port."""
    return valkyr_settings().metrics_port


def registry() -> CollectorRegistry:
    """Return the registry with the metrics of this process and of its pool's children."""
    if _folder is None:
        return REGISTRY
    gathered = CollectorRegistry()
    MultiProcessCollector(gathered, path=str(_folder))  # type: ignore[no-untyped-call]
    ProcessCollector(registry=gathered)
    return gathered


def name_cell(family: Metric, cell: str) -> None:
    """Add a cell's name to the labels of all samples; "" is the first database."""
    label = {"cell": cell or FIRST}
    family.samples = [one._replace(labels=label | one.labels) for one in family.samples]


class OfThisCell(Collector):
    """Collects this worker's or beat's metrics; with cells, adds the cell to Valkyr's metrics."""

    def collect(self) -> Iterable[Metric]:
        """Yield all metric families; with cells, Valkyr's samples have the cell's label."""
        known = valkyr_settings()
        for family in registry().collect():
            if known.cells and family.name.startswith(OURS):
                name_cell(family, known.cell)
            yield family


def share_with_children() -> None:
    """Count in files that this process shares with its children; call it before the fork.

    Earlier counts are dropped. The files are in memory if the system has a folder for that.
    """
    global _folder  # noqa: PLW0603 - one a process
    parent = Path("/dev/shm" if os.access("/dev/shm", os.W_OK) else tempfile.gettempdir())  # noqa: S108
    above = parent / f"valkyr-metrics-{os.getuid()}"
    above.mkdir(mode=0o700, exist_ok=True)
    _forget_the_dead(above)
    _folder = above / str(os.getpid())
    shutil.rmtree(_folder, ignore_errors=True)
    _folder.mkdir(mode=0o700)
    atexit.register(_remove, _folder, os.getpid())
    keep_in_files(_folder, lambda: _slot)


def count_as_child() -> None:
    """Count in the files of this child's slot from now on; call it after the fork."""
    global _slot  # noqa: PLW0603 - asked for at every count, so as cheap as can be
    _slot = f"child{slot()}"


def _forget_the_dead(above: Path) -> None:
    """Remove the folders of ended processes that could not remove their own folder."""
    for folder in above.iterdir():
        if folder.name.isdigit() and not psutil.pid_exists(int(folder.name)):
            shutil.rmtree(folder, ignore_errors=True)


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


disable_created_metrics()  # type: ignore[no-untyped-call]
