"""The ASGI entry point: `uvicorn valkyr_project.asgi:application --lifespan off`."""

import gc
import logging
import os

import django
from django.conf import settings

from executions.observability.proxies import Proxies
from valkyr_project.http.handler import Handler
from valkyr_project.http.request_limits import Gate
from valkyr_project.processes.production import warnings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
os.environ.setdefault("VALKYR_PROCESS", "web")
# Each request may have a thread of its own, so a connection kept by a thread is one leaked.
os.environ.setdefault("VALKYR_POOL", "threads")
django.setup(set_prefix=False)
from valkyr_project.http.websockets import Sockets  # noqa: E402 - it knows views, and they know models
from valkyr_project.telemetry.requests import Requests  # noqa: E402

_handler = Handler()
application = Requests(
    Proxies(
        Sockets(Gate(_handler, settings.DATA_UPLOAD_MAX_MEMORY_SIZE), _handler),
        settings.TRUSTED_PROXIES,
    )
)
for _warning in warnings(settings.INSTALLATION):
    logging.getLogger(__name__).warning(_warning)
# All is loaded and stays: the collector looks only through what comes from now on.
gc.freeze()
gc.enable()
