"""The base class of plugins' migrations, and the engine's models as migrations see them."""

from executions.database.migrations import Migration, model

__all__ = ["Migration", "model"]
