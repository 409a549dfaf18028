"""Logging: how a line looks, which ids it carries, and Celery's tasks among them."""
