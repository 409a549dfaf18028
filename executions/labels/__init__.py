"""Labels of executions: rendered at the start, and used to find and count executions in lists."""
