"""The ASGI entry point: `uvicorn valkyr_project.asgi:application --lifespan off`."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from valkyr_project.gate import Gate

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
os.environ.setdefault("VALKYR_PROCESS", "web")
# Each request may have a thread of its own, so a connection kept by a thread is one leaked.
os.environ.setdefault("VALKYR_POOL", "threads")
application = Gate(get_asgi_application(), settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
