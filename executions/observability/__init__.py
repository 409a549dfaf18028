"""Log context, traces and metrics of executions, and access to metrics."""
