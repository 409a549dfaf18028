"""Fixtures: one database for the folder, and concurrent rivals."""

from tests.concurrency.conftest import engine, queue, rivals

__all__ = ["engine", "queue", "rivals"]
