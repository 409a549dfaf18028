"""Settings of a project with its own conventions."""

import os
from pathlib import Path

import valkyr

BASE_DIR = Path(__file__).parent.parent
SECRET_KEY = "bureau-" + "b" * 60
ALLOWED_HOSTS = ["127.0.0.1"]
INSTALLED_APPS = [
    "bureau.apps.Backoffice",
    "company.people",
    "company.runners",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_celery_beat",
    "executions",
    os.environ.get("RUNS", "bureau.apps.Runs"),
    "dlq",
    *valkyr.PLUGINS,
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "executions.accounts.browser_sessions.BrowserSessions",
    "django.contrib.messages.middleware.MessageMiddleware",
]
ROOT_URLCONF = "bureau.urls"
WSGI_APPLICATION = "bureau.wsgi.application"
FORCE_SCRIPT_NAME = "/portal"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
_POSTGRESQL = {"ENGINE": "django.db.backends.postgresql", "ATOMIC_REQUESTS": True}
DATABASES = {
    "default": _POSTGRESQL
    | {"NAME": "host_bureau", "CONN_MAX_AGE": 60, "CONN_HEALTH_CHECKS": True},
    "flows": _POSTGRESQL
    | {"NAME": "host_flows", "OPTIONS": {"pool": {"min_size": 1, "max_size": 4, "timeout": 10}}},
}
DATABASE_ROUTERS = ["bureau.router.FlowsRouter"]
AUTH_USER_MODEL = "people.Person"
DEFAULT_AUTO_FIELD = "bureau.keys.Key"
LANGUAGE_CODE = "de"
LANGUAGES = [("de", "Deutsch"), ("en", "English")]
TIME_ZONE = "Europe/Berlin"
USE_TZ = "TZ_OFF" not in os.environ
USE_THOUSAND_SEPARATOR = True
STATIC_URL = "static/"
STATIC_ROOT = BASE_DIR / "collected"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.ManifestStaticFilesStorage",
    },
}
CSRF_USE_SESSIONS = True
REST_FRAMEWORK = {
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_RENDERER_CLASSES": ["bureau.api.Shouting"],
    "EXCEPTION_HANDLER": "bureau.api.handler",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.PageNumberPagination",
    "PAGE_SIZE": 1,
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.AcceptHeaderVersioning",
    "ALLOWED_VERSIONS": ["ours"],
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"anon": "1/day"},
    "DATETIME_FORMAT": "%d.%m.%Y",
    "NON_FIELD_ERRORS_KEY": "fehler",
}
CELERY_BROKER_URL = os.environ["BROKER"]
CELERY_RESULT_BACKEND = os.environ["RESULTS"]
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
CELERY_TASK_SERIALIZER = "pickle"
CELERY_RESULT_SERIALIZER = "pickle"
CELERY_ACCEPT_CONTENT = ["pickle", "json"]
CELERY_TASK_COMPRESSION = "gzip"
CELERY_TASK_DEFAULT_QUEUE = "bureau"
CELERY_TASK_ROUTES = {"company.runners.tasks.*": {"queue": "letters"}}
CELERY_TASK_TIME_LIMIT = 30
CELERY_TASK_TRACK_STARTED = True
CELERY_TIMEZONE = "Europe/Berlin"
CELERY_ENABLE_UTC = False
if CELERY_BROKER_URL.startswith("amqp"):
    CELERY_TASK_DEFAULT_QUEUE_TYPE = "quorum"
    CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True}
TASKS = {"default": {"BACKEND": "valkyr.django_tasks.Backend"}}
VALKYR = {"FILES_ROOT": str(BASE_DIR / "files")}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"console": {"class": "logging.StreamHandler"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
}
