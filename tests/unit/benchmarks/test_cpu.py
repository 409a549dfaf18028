"""CPU time of processes, from which the benchmark computes its figures."""

import os
import time

from tests.benchmarks import cpu


def test_a_process_is_read_finer_than_proc_counts() -> None:
    before = time.process_time()
    read = time.clock_gettime(cpu._clock_of(os.getpid()))
    after = time.process_time()

    assert before <= read <= after
    assert time.clock_getres(cpu._clock_of(os.getpid())) < 1 / cpu.TICKS


def test_a_process_that_is_gone_has_used_nothing() -> None:
    child = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(child, 0)

    assert cpu.tree_seconds(child) == 0.0
