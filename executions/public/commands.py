"""Write management commands with examples in their help, and options and output for queries."""

from executions.management.examples import CommandWithExamples
from executions.management.query_results import AnyValueEncoder, add_query_arguments, result_lines

__all__ = [
    "AnyValueEncoder",
    "CommandWithExamples",
    "add_query_arguments",
    "result_lines",
]
