"""The stand-alone platform: settings, Celery, URLs, ASGI and embedded services; no domain logic."""
