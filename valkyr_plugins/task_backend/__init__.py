"""A backend of Django's Tasks framework: each enqueued task runs as an execution of a workflow."""
