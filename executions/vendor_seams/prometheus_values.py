"""Keep prometheus-client's counters in files whose values the parent of a pool sums.

Relies on: `prometheus_client.values.ValueClass`, read whenever a value is made; it is
`MultiProcessValue(identify)`, which asks `identify` for its file's name at every count; the
registry's `_collector_to_names`: metrics without labels make their values in `_metric_init`, and
those with labels (`_is_parent`) forget theirs in `clear`; the environment's
PROMETHEUS_MULTIPROC_DIR (prometheus-client 0.20 to 0.26).
No public way: at its first import, the client reads the storage from the environment, and a file's
name contains the process ID, so that each child that is replaced leaves a file behind.
If it breaks: counts of a prefork pool's children are missing in `/metrics`.
"""

import os
from collections.abc import Callable
from pathlib import Path

from prometheus_client import values
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import REGISTRY


def keep_in_files(folder: Path, identify: Callable[[], str]) -> None:
    """Store counts in files of this folder that `identify` names; forget all earlier counts."""
    made = [one for one in REGISTRY._collector_to_names if isinstance(one, MetricWrapperBase)]
    for metric in filter(MetricWrapperBase._is_parent, made):
        metric.clear()
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
    values.ValueClass = values.MultiProcessValue(identify)  # type: ignore[no-untyped-call]
    for metric in filter(MetricWrapperBase._is_observable, made):
        metric._metric_init()  # type: ignore[no-untyped-call]
