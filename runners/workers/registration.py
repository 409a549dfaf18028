"""Register a worker, prepare its processes, and announce its shutdown."""

import enum
import gc
import logging
import os
import socket
from collections.abc import Callable
from typing import Any

from celery.signals import (
    celeryd_after_setup,
    task_postrun,
    task_prerun,
    worker_before_create_process,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.core.checks import run_checks
from django.db import Error

from executions import messaging
from executions.database import connection, routing
from executions.database.clock import ClockTimestamp
from executions.vendor_seams import billiard_slots, celery_partial_results
from runners.conf import config, pool, worker_name
from runners.models import Runner
from runners.modules import registry
from runners.pipeline import self_stops
from runners.process import activity, out_of_memory, parent
from runners.process.memory_limit import WORKER, limit_memory
from runners.stalls.keeper import Keeper
from runners.workers import canary, connections, reach
from runners.workers.shutdown import WorkerShutdown

log = logging.getLogger(__name__)

EVERY = 15.0
PREFORK = frozenset({"prefork", "processes", "celery.concurrency.prefork:TaskPool"})
WORKERS = "workers"  # the tag of the checks that each worker runs at its start


class WorkerShare(enum.Enum):
    """How many of a worker's tasks are Valkyr's: none, some, or all of them."""

    NOTHING = enum.auto()
    SOME = enum.auto()
    ALL = enum.auto()


def connect() -> None:
    """Connect the receivers of Celery's signals about workers, their child processes and tasks."""
    for signal, receiver in (
        (worker_init, name_process),
        (celeryd_after_setup, warm_up),
        (worker_before_create_process, share_memory),
        (worker_ready, arrive),
        (worker_process_init, begin_child),
        (worker_process_shutdown, end_child),
        (worker_shutting_down, leave),
        (worker_shutdown, gone),
        (task_prerun, connections.tidy_around),
        (task_postrun, connections.tidy_around),
    ):
        signal.connect(receiver, weak=False, dispatch_uid=f"{__name__}.{receiver.__name__}")


def share_of(worker: Any) -> WorkerShare:
    """Return how many of the worker's tasks are Valkyr's, according to its app and queues."""
    if worker.app is not messaging.celery_app():
        return WorkerShare.NOTHING
    consumed = list(worker.app.amqp.queues.consume_from)
    ours = messaging.ours_among(consumed)
    if not ours:
        return WorkerShare.NOTHING
    alone = len(ours) == len(consumed) and not messaging.shared_among(consumed)
    return WorkerShare.ALL if alone else WorkerShare.SOME


def name_process(sender: Any = None, **_: Any) -> None:
    """Name this worker before it forks, so that its children's leases contain the name.

    A worker that also runs other tasks has no watchdog, because a watchdog ends processes. Raises
    SystemExit if the worker cannot serve its queues.
    """
    global _share  # noqa: PLW0603 - children inherit it
    _refuse_other_cells(sender)
    _share = share_of(sender)
    if _share is WorkerShare.NOTHING:
        return
    os.environ["VALKYR_POOL"] = kind_of_pool(sender.pool_cls)
    # Celery ignores other exceptions of this function, and does not run Django's checks.
    for problem in run_checks(tags=[WORKERS]):
        raise SystemExit(f"{problem.msg} {problem.hint} ({problem.id})")
    os.environ.setdefault("RUNNER_ID", sender.hostname)
    if _share is WorkerShare.SOME and not _forks():
        self_stops.spare_others()
    activity.share_draining()
    if _share is WorkerShare.ALL:
        _keeper.begin()
    if _forks():
        celery_partial_results.continue_partial_results()
    if _share is WorkerShare.ALL and _forks():
        billiard_slots.watch_kills(_killed)
    sender.app.steps["consumer"].update({canary.Consuming, reach.Reaching})


def _refuse_other_cells(worker: Any) -> None:
    """Raise SystemExit if the worker would consume a queue of a cell that it does not serve."""
    if worker.app is not messaging.celery_app():
        return
    if found := messaging.of_other_cells(worker.app.amqp.queues.consume_from):
        cell = routing.cell()
        own = f"the cell {cell!r}" if cell else "the first database"
        raise SystemExit(
            f"This worker serves {own}, and its command line names the queue {found[0]!r}, which "
            f"does not belong to it; expected names such as {messaging.at_broker('io')!r}. Set "
            "VALKYR_CELL to the queue's cell, or name other queues with -Q. See "
            "docs/how-to/cells.md."
        )


def warm_up(instance: Any = None, **_: Any) -> None:
    """Import the slow dependencies of this worker's modules, once for all children.

    In a pool of threads, a module's first step imports them, which saves memory.
    """
    if _share is not WorkerShare.NOTHING and _forks():
        registry.warm_up(messaging.ours_among(instance.app.amqp.queues.consume_from))
        gc.collect()


def share_memory(**_: Any) -> None:
    """Store the parent's ID for children, and freeze shared objects to avoid page copies."""
    if _share is WorkerShare.ALL:
        parent.remember()
        gc.freeze()


def arrive(sender: Any = None, **_: Any) -> None:
    """Write this worker's row; from now on, check the watchdog and the machine's OOM kills."""
    if _share is WorkerShare.NOTHING:
        return
    queues = messaging.ours_among(sender.app.amqp.queues.consume_from)
    _write(
        pool=pool(),
        processes=max(1, sender.pool.num_processes or 1),
        queues=queues,
    )
    sender.timer.call_repeatedly(EVERY, _keeper.look)
    sender.timer.call_repeatedly(EVERY, _deaths.short)
    if _share is WorkerShare.ALL and not _forks():
        activity.be_watched()


def begin_child(**_: Any) -> None:
    """Forget the parent's connections; if all tasks are Valkyr's, limit and watch this child."""
    if _share is not WorkerShare.NOTHING:
        connections.forget_parents()
    if _share is WorkerShare.ALL:
        limit_memory(config().worker_memory, WORKER)
        parent.end_without()
        activity.be_watched()


def end_child(**_: Any) -> None:
    """Stop watching a child that ends normally."""
    activity.be_left_alone()


def leave(**_: Any) -> None:
    """Begin the shutdown: the worker takes no new steps.

    If other workers take over this worker's steps from now on, this does not count as a crash.
    """
    if _share is not WorkerShare.NOTHING:
        _departure.begin(end=_share is WorkerShare.ALL)


def gone(**_: Any) -> None:
    """Finish the shutdown: unregister from the watchdog and close the database connection."""
    if _share is not WorkerShare.NOTHING:
        activity.be_left_alone()
        _departure.done()
        connection.close()


def _killed(pid: int) -> Callable[[int], None] | None:
    """If memory is short, record that a pool's child was killed; return a follow-up function.

    The function takes the child's peak memory, and records whether the child caused the shortage.
    Returns None if memory is not short.
    """
    if not _deaths.short():
        return None
    start = out_of_memory.start_of(pid)
    # Write the note before the child is reaped: once the process is gone, the note must exist.
    out_of_memory.tell(pid, start, out_of_memory.UNKNOWN)
    return lambda peak: out_of_memory.tell(pid, start, _deaths.judge(pid, peak))


def _forks() -> bool:
    return pool() == "prefork"


def kind_of_pool(pool_cls: Any) -> str:
    """Return `prefork`, or `threads` for a pool whose tasks share the worker's own process."""
    name = pool_cls if isinstance(pool_cls, str) else f"{pool_cls.__module__}:{pool_cls.__name__}"
    return "prefork" if name in PREFORK else "threads"


def _write(**facts: Any) -> None:
    try:
        Runner.objects.update_or_create(
            name=worker_name(),
            defaults={
                "host": socket.gethostname(),
                "pid": os.getpid(),
                "started_at": ClockTimestamp(),
                "seen_at": ClockTimestamp(),
                "leaving_at": None,
                **facts,
            },
        )
    except Error as error:
        log.warning("this worker could not register (%s)", error)
    finally:
        connection.close()  # `reach` uses a connection of its own to renew the row


def _announce() -> None:
    try:
        # If a worker of the same name has replaced this one, leave its row unchanged.
        mine = Runner.objects.filter(name=worker_name(), host=socket.gethostname(), pid=os.getpid())
        mine.update(leaving_at=ClockTimestamp())
    except Error as error:
        log.warning("this worker could not announce its shutdown (%s)", error)


_share = WorkerShare.NOTHING
_departure = WorkerShutdown(_announce)
_keeper = Keeper()
_deaths = out_of_memory.ChildDeaths()
