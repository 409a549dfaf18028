"""The project behind a proxy that removes `/portal`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bureau.settings")
behind = get_wsgi_application()


def application(environ, start_response):
    if not environ["PATH_INFO"].startswith("/portal/"):
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"the proxy has nothing there"]
    environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix("/portal")
    return behind(environ, start_response)
