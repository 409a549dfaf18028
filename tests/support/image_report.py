"""A program that says what its process is; forked from an image, or started as it is."""

import json
import os
import random
import sys
import uuid

import django
from django.conf import settings

# What only web processes and only workers load.
OF_ROLES = ("valkyr_project.urls", "celery.worker.consumer", "runners.tasks")


def main() -> None:
    """Print it as JSON."""
    loaded = [name for name in OF_ROLES if name in sys.modules]
    django.setup(set_prefix=False)
    from valkyr_project.celery import app

    report = {
        "settings": {name: getattr(settings, name) for name in dir(settings) if name.isupper()},
        "environment": dict(os.environ),
        "arguments": sys.argv[1:],
        "parent": os.getppid(),
        "session": os.getsid(0),
        "loaded": loaded,
        "celery_configured": app.configured,
        "chance": [random.random(), str(uuid.uuid4())],
    }
    print(json.dumps(report, default=lambda value: type(value).__name__))


if __name__ == "__main__":
    main()
