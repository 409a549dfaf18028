"""Labels of executions: rendered at a start, and found and counted by lists."""
