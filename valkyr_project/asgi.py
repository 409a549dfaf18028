"""The ASGI entry point: `uvicorn valkyr_project.asgi:application --lifespan off`."""

import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
os.environ.setdefault("VALKYR_PROCESS", "web")
application = get_asgi_application()
