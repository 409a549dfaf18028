"""The base of migrations of plugins: they refer to tables of the engine."""

from executions.database.migrations import Migration, model

__all__ = ["Migration", "model"]
