"""A result that was partly read when the broker's connection was lost is read to its end."""

import subprocess
import sys

from tests.support.stack import PROJECT

# Results are larger than a pipe, so that the pool reads them in steps. The connection is lost
# whenever one is partly read, as `celery.worker.loops.asynloop` and `Consumer.on_close` handle it.
PROGRAM = """
import os, signal, sys
from celery.concurrency.asynpool import AsynPool, ResultHandler
from kombu.asynchronous import Hub, set_event_loop
from executions.vendor_seams import celery_partial_results

def large(number):
    return b"x" * 20_000_000

if sys.argv[1:] != ["without"]:
    celery_partial_results.continue_partial_results()
    celery_partial_results.continue_partial_results()
partial, read = [], ResultHandler._recv_message

def watched(self, *args):
    for _ in read(self, *args):
        partial.extend(job for job in pool._cache.values() if job._accepted)
        yield

ResultHandler._recv_message = watched
hub = Hub()
set_event_loop(hub)
pool = AsynPool(processes=1, synack=False, threads=False)
pool.register_with_event_loop(hub)
results, jobs, lost = [], 0, 0
while lost < 3:
    pool.apply_async(large, (jobs,), callback=lambda got: results.append(len(got)))
    jobs += 1
    while len(results) < jobs:
        hub.run_once()
        if partial:
            lost += 1
            partial.clear()
            hub.reset()
            hub._loop = None
            pool.flush()
            pool.register_with_event_loop(hub)
print(set(results), len(pool._busy_workers), flush=True)
for child in pool._pool:
    os.kill(child.pid, signal.SIGKILL)
os._exit(0)
"""


def test_a_result_is_read_to_its_end_after_the_connection_was_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=PROJECT, check=False, capture_output=True, text=True, timeout=60,
    )  # fmt: skip

    assert done.stdout == "{20000000} 0\n", (
        f"Celery has changed: see executions/vendor_seams/celery_partial_results.py\n{done.stderr}"
    )
