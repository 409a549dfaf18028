"""Fixtures: one database for the folder, and concurrent rivals."""

from tests.concurrency.conftest import engine, rivals

__all__ = ["engine", "rivals"]
