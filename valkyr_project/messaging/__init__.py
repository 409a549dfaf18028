"""Celery in the stand-alone platform: beat and its periodic tasks."""
