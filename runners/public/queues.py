"""What waits in each queue, and how many workers serve it."""

from runners.workers.queues import Queue, queues

__all__ = [
    "Queue",
    "queues",
]
