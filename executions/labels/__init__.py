"""Labels of executions: rendered at a start, found and counted by lists."""
