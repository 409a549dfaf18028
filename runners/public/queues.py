"""The length of each queue, and the number of its workers."""

from runners.workers.queues import Queue, queues

__all__ = [
    "Queue",
    "queues",
]
