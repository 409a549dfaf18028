"""The duration and the peak memory of reading a CSV file in batches.

`python -m tests.benchmarks.csv_rows ROWS` is the measured process; it prints a line of JSON. Its
environment must set up Django.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

ROWS, BATCH = 1_000_000, 10_000
MOST_MIB = 256
LINE = b"%d,ann@example.com,Oolong tea,2026-11-21T10:00:00Z,12\n"


@dataclass(frozen=True, slots=True)
class Pass:
    """The duration of one pass over a file; `total` is the sum of the column with this name."""

    rows: int
    total: int
    batches: int
    cutting: float  # seconds
    reading: float  # seconds
    peak_mib: float


def measure(rows: int = ROWS) -> Pass:
    """Measure in a separate process, on a temporary file."""
    with tempfile.TemporaryDirectory(prefix="valkyr-csv-") as folder:
        with (Path(folder) / "rows.csv").open("wb") as file:
            file.write(b"id,email,article,at,total\n")
            file.writelines(LINE % number for number in range(rows))
        environment = os.environ | {
            "VALKYR_FILES_ROOT": folder,
            "DJANGO_SETTINGS_MODULE": "valkyr_project.settings",
        }
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Pass(**json.loads(done.stdout))


def told(found: Pass) -> str:
    """Return the result as two lines of text."""
    verdict = "met" if found.peak_mib <= MOST_MIB else "MISSED"
    return (
        f"\n{found.rows:,} rows: cut into {found.batches} batches in {found.cutting:.1f} s, all "
        f"read in {found.reading:.1f} s\n"
        f"peak memory of the process: {found.peak_mib:.0f} MiB; <= {MOST_MIB}: {verdict}"
    )


def _pass() -> dict[str, Any]:
    import django

    django.setup()
    from runners.modules import registry
    from runners.segment.step_context import Context

    context = Context(
        execution_id=UUID(int=1),
        step_path="cut.main",
        attempt=1,
        idempotency_key="k",
        seconds=600,
        variables={},
    )
    module = registry.get("data.csv_parse")

    def run(**config: Any) -> Any:
        result: Any = module.run(config, context)
        return result.outputs

    began = time.perf_counter()
    cut = run(path="rows.csv", batchSize=BATCH)
    then = time.perf_counter()
    total = sum(int(row["total"]) for batch in cut["batches"] for row in run(batch=batch)["rows"])
    return {
        "rows": cut["count"],
        "total": total,
        "batches": len(cut["batches"]),
        "cutting": then - began,
        "reading": time.perf_counter() - then,
        "peak_mib": _peak_mib(),
    }


def _peak_mib() -> float:
    """Return the process's peak memory in MiB; getrusage would include its parent's before exec."""
    status = Path("/proc/self/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(_pass()))
