"""Celery in the stand-alone platform: broker connections, beat and its periodic tasks."""
