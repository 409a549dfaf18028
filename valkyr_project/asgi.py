"""The ASGI entry point: `uvicorn valkyr_project.asgi:application --lifespan off`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
os.environ.setdefault("VALKYR_PROCESS", "web")
# Each request may have a thread of its own, so a connection kept by a thread is one leaked.
os.environ.setdefault("VALKYR_POOL", "threads")
application = get_asgi_application()
