"""Logging's configuration: one handler, on stderr, through which everybody's lines go.

Celery's own set-up is switched off (it would put a handler and a format of its own beside ours),
and uvicorn's and Django's loggers are made to hand their records up.
"""

import logging.config
from typing import Any

from celery.signals import setup_logging
from django.core.exceptions import ImproperlyConfigured

FORMATS = ("json", "text")
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Their records go up to the root, and they have no handler of their own.
HANDED_UP = ("django", "uvicorn", "uvicorn.error", "uvicorn.access", "celery", "celery.task")


def configuration(form: str, level: str) -> dict[str, Any]:
    """For `logging.config.dictConfig`; raises ImproperlyConfigured, naming the variable."""
    level = level.upper()
    if form not in FORMATS:
        raise ImproperlyConfigured(f"VALKYR_LOG_FORMAT is {form!r}; expected json or text.")
    if level not in LEVELS:
        raise ImproperlyConfigured(
            f"VALKYR_LOG_LEVEL is {level!r}; expected one of {', '.join(LEVELS)}."
        )
    here = "valkyr_project.logs"
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {
            "fields": {"()": f"{here}.fields.Fields"},
        },
        "formatters": {
            "json": {"()": f"{here}.lines.JsonLine"},
            "text": {"()": f"{here}.lines.TextLine"},
        },
        "handlers": {
            "stderr": {
                "class": "logging.StreamHandler",
                "formatter": form,
                "filters": ["fields"],
            }
        },
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **{name: {"handlers": [], "propagate": True, "level": level} for name in HANDED_UP},
            # billiard's, which never hands anything up.
            "multiprocessing": {"handlers": ["stderr"], "level": level},
            # The audit trail's head: kept elsewhere, it shows what was done to the trail.
            "valkyr.audit": {"level": "INFO" if form == "json" else level},
            # Each statement, with its parameters: payloads.
            "django.db.backends": {"level": "INFO"},
        },
    }


@setup_logging.connect(weak=False)
def instead_of_celery(**_: Any) -> None:
    """Celery asks who sets logging up; whoever answers, it leaves everything alone.

    What modules print becomes lines then as well, as with Celery's own set-up: secrets are scrubbed
    from lines only.
    """
    from celery import current_app
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)
    conf = current_app.conf
    if conf.worker_redirect_stdouts:
        current_app.log.redirect_stdouts(conf.worker_redirect_stdouts_level)
