"""Write management commands with examples in their help."""

from executions.management.examples import CommandWithExamples

__all__ = ["CommandWithExamples"]
