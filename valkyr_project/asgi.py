"""The ASGI entry point: `uvicorn valkyr_project.asgi:application --lifespan off`."""

import gc
import logging
import os

import django
from django.conf import settings
from django.utils.module_loading import import_string

from executions.configuration import settings as valkyr_settings
from executions.observability.proxies import Proxies
from executions.plugins import plugins
from valkyr_project.http.asgi_middleware import App, Gate, RequestIds
from valkyr_project.http.handler import Handler
from valkyr_project.processes.production import warnings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "valkyr_project.settings")
os.environ.setdefault("VALKYR_PROCESS", "web")
# Each request may run in a separate thread, so a connection that a thread keeps would leak.
os.environ.setdefault("VALKYR_POOL", "threads")
django.setup(set_prefix=False)
from valkyr_project.http.websockets import Sockets  # noqa: E402 - it knows views, and they know models

_handler = Handler()
_application: App = Proxies(
    Sockets(Gate(_handler, settings.DATA_UPLOAD_MAX_MEMORY_SIZE), _handler),
    valkyr_settings().trusted_proxies,
)
for _plugin in plugins():
    if _plugin.asgi:
        _application = import_string(_plugin.asgi)(_application)
application = RequestIds(_application)
for _warning in warnings(settings.INSTALLATION):
    logging.getLogger(__name__).warning(_warning)
# All code is loaded and stays, so the garbage collector only examines objects that are created from
# now on.
gc.freeze()
gc.enable()
