"""A program that reports on its process; forked from an image, or started directly."""

import json
import os
import random
import sys
import uuid

import django
from django.conf import settings

# What only web processes and only workers load.
OF_ROLES = ("valkyr_project.urls", "celery.worker.consumer", "runners.tasks")

# Celery reads these once per process: settings of roles, and entries that are in none.
CELERY = (
    "broker_transport_options",
    "db_reuse_max",
    "broker_url",
    "beat_schedule",
    "task_serializer",
)


def main() -> None:
    """Print the report as JSON."""
    loaded = [name for name in OF_ROLES if name in sys.modules]
    django.setup(set_prefix=False)
    from valkyr_project.celery import app

    app.finalize()
    report = {
        "settings": {name: getattr(settings, name) for name in dir(settings) if name.isupper()},
        "environment": dict(os.environ),
        "arguments": sys.argv[1:],
        "parent": os.getppid(),
        "session": os.getsid(0),
        "loaded": loaded,
        "celery": {name: app.conf[name] for name in CELERY},
        "chance": [random.random(), str(uuid.uuid4())],
    }
    print(json.dumps(report, default=lambda value: type(value).__name__))


if __name__ == "__main__":
    main()
