"""The project's settings: the engine's needs as in the platform, and its own."""

# ruff: noqa: F405 - the platform's settings are taken whole
from valkyr_plugins.mfa.apps import MfaConfig
from valkyr_project.settings import *  # noqa: F403

AUTH_USER_MODEL = "people.Person"
OURS = [name for name in INSTALLED_APPS if name.startswith(("executions.", "runners.", "dlq."))]
PLUGINS = [
    name for name in INSTALLED_APPS
    if name.startswith("valkyr_plugins.") and not name.startswith("valkyr_plugins.sso")
]  # fmt: skip
INSTALLED_APPS = [
    "tests.projects.people.apps.PeopleConfig",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    *OURS,
    *PLUGINS,
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
SIMPLE_JWT = {}
ROOT_URLCONF = "tests.projects.people.urls"
ASGI_APPLICATION = "tests.projects.people.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
STATICFILES_DIRS: list[str] = []
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# These tests do not need the half second for each new password and each sign-in.
PASSWORD_HASHERS = ["tests.support.passwords.QuickHasher"]
MfaConfig.configure(globals())
CELERY_BEAT_SCHEDULER = "django_celery_beat.schedulers:DatabaseScheduler"
