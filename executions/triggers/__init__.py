"""Start executions for users and programs, and through schedules, webhooks, events and queues."""
