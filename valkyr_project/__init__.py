"""Wiring: settings, Celery, URLs, ASGI, embedded services. No domain logic."""
