"""Wiring: settings, Celery, URLs, ASGI, embedded services. Nothing of the domain."""
