"""What the hub of live states reads: an execution with its runs, or a workflow's executions."""
