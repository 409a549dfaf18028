"""Celery's tasks and canvas as durable steps: what a task does, and what a signature means."""
