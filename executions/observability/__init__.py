"""Log context, traces and metrics of executions, and access control for metrics."""
