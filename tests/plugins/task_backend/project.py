"""Settings of a project on the stand-alone platform that has the Tasks framework."""

from valkyr_project.settings import *  # noqa: F403

INSTALLED_APPS = [*INSTALLED_APPS, "django_tasks"]  # noqa: F405
BACKEND = "valkyr.django_tasks.Backend"
TASKS = {
    "default": {"BACKEND": BACKEND, "QUEUES": ["default", "io"]},
    "patient": {
        "BACKEND": BACKEND,
        "QUEUES": [],
        "OPTIONS": {
            "retry": {"maxAttempts": 3, "baseSeconds": 0.1, "jitter": 0},
            "retry_on": ["builtins.LookupError"],
            "timeout": 30,
            "queues": {"mails": "io"},
        },
    },
    "narrow": {"BACKEND": BACKEND, "OPTIONS": {"workspace": "narrow"}},
}
