"""The base class of plugins' migrations, which may refer to the engine's tables."""

from executions.database.migrations import Migration, model

__all__ = ["Migration", "model"]
