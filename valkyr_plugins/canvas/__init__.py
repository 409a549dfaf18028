"""Celery's tasks and canvas as durable steps: run tasks, and translate signatures."""
