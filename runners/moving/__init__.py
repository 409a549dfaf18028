"""Move a workspace to another cell while its executions run."""
