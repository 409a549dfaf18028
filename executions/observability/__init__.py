"""Log context, traces and metrics of executions, and who may read metrics."""
