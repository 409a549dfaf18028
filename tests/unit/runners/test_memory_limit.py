"""The memory that a process that executes steps may use."""

import subprocess
import sys
from pathlib import Path

import pytest

from runners.conf import MEBIBYTE, memory, share_of
from runners.pipeline import execute

LIMITED = """
import resource
if {system}:
    resource.setrlimit(resource.RLIMIT_AS, ({system} * 2**20, resource.RLIM_INFINITY))
from runners.process.memory_limit import (
    ISOLATED,
    WORKER,
    limit_memory,
    limited_megabytes,
    what_to_raise,
)
limit_memory({first}, WORKER)
limit_memory({second}, ISOLATED)
try:
    bytes(1500 * 2**20)
except MemoryError:
    print("refused at", limited_megabytes(), "raise", what_to_raise())
"""


@pytest.mark.parametrize(
    ("gibibytes", "megabytes"), [(1, 1024), (4, 1024), (8, 2048), (16, 4096), (64, 4096)]
)
def test_without_a_setting_a_process_may_have_a_quarter_of_the_memory_within_bounds(
    gibibytes: int, megabytes: int
) -> None:
    assert share_of(gibibytes * 1024 * MEBIBYTE) == megabytes


@pytest.mark.parametrize(
    ("system", "first", "second", "said"),
    [
        (0, 1024, 2048, "refused at 1024 raise VALKYR_WORKER_MEMORY_MB"),
        (0, 2048, 1024, "refused at 1024 raise VALKYR_ISOLATED_MEMORY_MB"),
        (0, 1024, 0, "refused at 1024 raise VALKYR_WORKER_MEMORY_MB"),
        (1024, 2048, 0, "refused at 1024 raise the limit that the system sets (RLIMIT_AS)"),
        (0, 4096, 0, ""),
        (0, 0, 0, ""),
    ],
)
def test_the_lower_limit_holds_and_the_error_names_what_set_it(
    system: int, first: int, second: int, said: str
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED.format(system=system, first=first, second=second)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.strip() == said


@pytest.mark.parametrize(
    ("group", "file"),
    [
        ("0::/system.slice/worker.service", "system.slice/memory.max"),
        ("0::/", "memory.max"),
        ("4:cpu,memory:/docker/abc", "memory/memory.limit_in_bytes"),
    ],
)
def test_a_cgroup_around_the_process_counts_as_the_memory_there_is(
    tmp_path: Path, group: str, file: str
) -> None:
    groups = tmp_path / "groups"
    groups.write_text(f"1:name=systemd:/else\n{group}\n")
    whole = memory(groups, tmp_path / "fs")
    limit = tmp_path / "fs" / file
    limit.parent.mkdir(parents=True, exist_ok=True)
    limit.write_text("max\n")
    assert memory(groups, tmp_path / "fs") == whole
    limit.write_text(f"{700 * MEBIBYTE}\n")
    assert memory(groups, tmp_path / "fs") == 700 * MEBIBYTE


def test_only_a_lack_of_memory_in_a_limited_process_names_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(execute, "limited_megabytes", lambda: 512)
    limited = execute.failure_of(MemoryError(), 1, "a.main")
    assert "more memory than its process may have (512 MiB)" in limited.message
    assert "may have" not in execute.failure_of(ValueError("no"), 1, "a.main").message
    monkeypatch.setattr(execute, "limited_megabytes", lambda: 0)
    assert "may have" not in execute.failure_of(MemoryError(), 1, "a.main").message
