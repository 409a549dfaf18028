"""Write management commands: examples in their help, the limits and the output of queries."""

from executions.management.examples import CommandWithExamples
from executions.management.query_results import AnyValueEncoder, add_query_arguments, result_lines

__all__ = [
    "AnyValueEncoder",
    "CommandWithExamples",
    "add_query_arguments",
    "result_lines",
]
