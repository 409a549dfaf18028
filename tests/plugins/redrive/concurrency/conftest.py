"""One database for the folder, and rivals that act at once."""

from tests.concurrency.conftest import engine, queue, rivals

__all__ = ["engine", "queue", "rivals"]
