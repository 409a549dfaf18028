"""A backend of Django's Tasks framework: each enqueued task is an execution of one step."""
