"""Celery tasks and canvases as durable steps: run tasks, and translate signatures."""
