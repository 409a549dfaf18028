"""Django's settings, read from the environment; docs/reference/configuration.md lists them."""

import os
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse_lazy

from executions import environment as env
from executions.vendor_seams import psycopg_pool_check, psycopg_reconnect
from valkyr_project import database, plugins, unfold
from valkyr_project.http.middleware import ADMIN_POLICY
from valkyr_project.logs import configuration as logging
from valkyr_project.processes import production

BASE_DIR = Path(__file__).resolve().parent.parent
# An installed package has no data in the folder beside it.
_beside = BASE_DIR if (BASE_DIR / "manage.py").exists() else Path.cwd()
HOME = Path(env.text("VALKYR_HOME", str(_beside / ".valkyr")))

DEBUG = env.flag("VALKYR_DEBUG", False)
SECRET_KEY = env.text("VALKYR_SECRET_KEY")
if not SECRET_KEY:
    if not env.flag("VALKYR_INSECURE_KEY", False):
        raise ImproperlyConfigured(
            "VALKYR_SECRET_KEY is not set. Set it to 50 or more random characters, or start a "
            "stack with `make up`: manage.py and `valkyr manage` use the stack that runs in "
            f"VALKYR_HOME ({HOME})."
        )
    SECRET_KEY = "insecure-" + "x" * 50
SECRET_KEY_FALLBACKS = env.words("VALKYR_SECRET_KEY_FALLBACKS")
ALLOWED_HOSTS = env.words("VALKYR_ALLOWED_HOSTS", ("127.0.0.1", "localhost", "[::1]"))
CSRF_TRUSTED_ORIGINS = env.words("VALKYR_TRUSTED_ORIGINS")

# Whether the installation is served over HTTPS, by a proxy. Not needed at this machine's own
# address.
HTTPS = env.flag("VALKYR_HTTPS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_REDIRECT_EXEMPT = [r"(?:^|/)actuator/"]
# Further databases, each with its own workspaces. A worker or beat with VALKYR_CELL uses one of
# them instead of DATABASE_URL.
CELLS = database.cells(env.text("VALKYR_CELLS"))
CELL = env.text("VALKYR_CELL")
# An insecure setting prevents the start, unless only this machine can reach the installation.
INSTALLATION = production.Installation(
    hosts=ALLOWED_HOSTS,
    secret_key=SECRET_KEY,
    old_keys=SECRET_KEY_FALLBACKS,
    debug=DEBUG,
    insecure_key=env.flag("VALKYR_INSECURE_KEY", False),
    https=HTTPS,
    allow_http=env.flag("VALKYR_ALLOW_HTTP", False),
    proxies=env.words("VALKYR_TRUSTED_PROXIES"),
    addresses={
        name: env.text(name)
        for name in (
            "DATABASE_URL",
            "DATABASE_DIRECT_URL",
            "DATABASE_REPLICA_URL",
            "REDIS_URL",
            "CELERY_BROKER_URL",
        )
    }
    | {f"VALKYR_CELLS[{name}]": one.url for name, one in CELLS.items()}
    | {f"VALKYR_CELLS[{name}].direct": one.direct for name, one in CELLS.items()},
)
if _refusals := production.refusals(INSTALLATION):
    raise ImproperlyConfigured("\n".join(_refusals))
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {"DIRECTIVES": ADMIN_POLICY}

INSTALLED_APPS = [
    # Before the admin, because Unfold replaces the site on which the admin then registers every
    # model.
    "unfold",
    "unfold.contrib.filters",
    "valkyr_project.apps.AdminSite",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_celery_beat",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "executions.apps.ExecutionsConfig",
    "runners.apps.RunnersConfig",
    "dlq.apps.DlqConfig",
    *plugins.installed_apps(),
]
MIDDLEWARE = [
    "valkyr_project.http.middleware.NoRendering",
    "valkyr_project.metrics.web.Metrics",
    "valkyr_project.http.middleware.SecurityHeaders",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "valkyr_project.http.middleware.PageCompression",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "executions.accounts.browser_sessions.BrowserSessions",
    "executions.access.row_security.RowLevelSecurity",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
if CELLS and not CELL:
    MIDDLEWARE.insert(0, "executions.api.cell_routing.CellRouting")
AUTHENTICATION_BACKENDS = ["django.contrib.auth.backends.ModelBackend"]
# Seconds from the sign-in, regardless of activity. A change at the identity provider applies after
# at most this time.
SESSION_COOKIE_AGE = round(env.number("VALKYR_SESSION_HOURS", 12) * 3600)
ROOT_URLCONF = "valkyr_project.urls"
ASGI_APPLICATION = "valkyr_project.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "valkyr_project" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "valkyr_project.up.stack_health.context",
            ]
        },
    }
]

# ---- PostgreSQL. A pool under threads, a kept connection elsewhere: docs/explanation/celery.md.
POOL = env.text("VALKYR_POOL", "prefork")
DATABASE_DIRECT_URL = env.text("DATABASE_DIRECT_URL")
_first = database.CellServer(
    env.text("DATABASE_URL", "postgres://127.0.0.1:5432/valkyr"), DATABASE_DIRECT_URL
)
_own = database.of_cell(CELLS, CELL) if CELL else _first
_database: dict[str, Any] = env.database(_own.url)
_database["OPTIONS"] |= {
    "server_side_binding": True,
    "connect_timeout": 5,
    "tcp_user_timeout": 10_000,
    # A client that waits for a response sends nothing. Without keepalives, it would wait for a lost
    # server for two hours.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "application_name": f"valkyr-{env.text('VALKYR_PROCESS', 'tool')}",
}
if POOL == "threads":
    _database["OPTIONS"]["pool"] = {
        "min_size": 0,
        "max_size": env.integer("VALKYR_POOL_SIZE", 10),
        "timeout": 20,
        "max_idle": 60,
        **psycopg_reconnect.OPTIONS,
        **psycopg_pool_check.OPTIONS,
    }
    _database["CONN_MAX_AGE"] = 0
else:
    _database["CONN_MAX_AGE"] = 600
_database["CONN_HEALTH_CHECKS"] = True
_database["TEST"] = {"NAME": env.text("VALKYR_TEST_DATABASE_NAME") or None}
_database = database.pooled(_database, _own.direct)
DATABASES: dict[str, dict[str, Any]] = {"default": _database}
# Lists and dashboards may be read from a replica if its lag is small enough (executions/replica).
if not CELL and (_replica := env.text("DATABASE_REPLICA_URL")):
    DATABASES["replica"] = database.database(_database, _replica)
    MIDDLEWARE.append("executions.replica.reading.marking")
if CELL:
    _database["CELL"] = CELL
else:
    DATABASES |= {name: database.further(_database, one) for name, one in CELLS.items()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# ---- Celery: reasons in docs/explanation/celery.md.
REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:6379/0")
CELERY_BROKER_URL = env.text("CELERY_BROKER_URL", REDIS_URL)
CELERY_RESULT_BACKEND = env.text("CELERY_RESULT_BACKEND", REDIS_URL)
if CELERY_RESULT_BACKEND.startswith(("redis://", "rediss://", "sentinel://")):
    _counter = (
        "SentinelChordCounter" if CELERY_RESULT_BACKEND.startswith("sentinel") else "ChordCounter"
    )
    CELERY_RESULT_BACKEND = (
        f"executions.vendor_seams.celery_results:{_counter}+{CELERY_RESULT_BACKEND}"
    )
_redis_broker = CELERY_BROKER_URL.startswith(("redis", "unix", "sentinel"))
_sentinel: dict[str, Any] = {}
if _primary := env.text("VALKYR_SENTINEL_MASTER"):
    _sentinel["master_name"] = _primary
if _password := env.text("VALKYR_SENTINEL_PASSWORD"):
    _sentinel["sentinel_kwargs"] = {"password": _password}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_POOL_LIMIT = 10
CELERY_BROKER_POOL_ACQUIRE_TIMEOUT = 5
_key_prefix = env.text("VALKYR_KEY_PREFIX", "valkyr:")
if _redis_broker:
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "visibility_timeout": env.integer("VALKYR_VISIBILITY_TIMEOUT", 900),
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 2,
        "socket_keepalive": True,
        "health_check_interval": 30,
        "priority_steps": list(range(10)),  # only four by default, in which 3, 4 and 5 are equal
        "global_keyprefix": _key_prefix,
        **_sentinel,
    }
    if env.text("VALKYR_PROCESS", "tool") in {"web", "beat", "tool", "consumer"}:
        CELERY_BROKER_TRANSPORT_OPTIONS["socket_timeout"] = 2
    CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = {
        "global_keyprefix": _key_prefix,
        # Chords are counted in Redis. While it is unavailable, fail fast, and let the sweeper plan.
        "retry_policy": {
            "max_retries": 2,
            "interval_start": 0,
            "interval_step": 0.2,
            "interval_max": 0.5,
        },
        **_sentinel,
    }
    CELERY_REDIS_SOCKET_CONNECT_TIMEOUT = 2
    CELERY_REDIS_SOCKET_TIMEOUT = 5
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"confirm_publish": True}
    CELERY_RESULT_BACKEND_TRANSPORT_OPTIONS = _sentinel
    CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # for example if a queue's node is down
    # Seconds. RabbitMQ redelivers the messages of a worker that has been silent for two intervals.
    CELERY_BROKER_HEARTBEAT = 10
    CELERY_TASK_DEFAULT_QUEUE_TYPE = CELERY_TASK_CREATE_MISSING_QUEUE_TYPE = "quorum"
CELERY_TASK_SERIALIZER = CELERY_RESULT_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 2,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.5,
}
CELERY_TASK_SEND_SENT_EVENT = False
CELERY_TASK_DEFAULT_QUEUE = f"{CELL}:default" if CELL else "default"
CELERY_RESULT_EXPIRES = 3600
CELERY_RESULT_CHORD_EXPIRES = 7 * 86_400
CELERY_RESULT_EXTENDED = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_DISABLE_PREFETCH = False
CELERY_WORKER_LOST_WAIT = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = 20
CELERY_WORKER_ENABLE_SOFT_SHUTDOWN_ON_IDLE = False  # workers hold no timers
CELERY_WORKER_MAX_TASKS_PER_CHILD = 5000
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400_000
CELERY_WORKER_DEDUPLICATE_SUCCESSFUL_TASKS = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_DB_REUSE_MAX = 1_000_000_000 if POOL != "threads" else None
CELERY_BEAT_SCHEDULER = "valkyr_project.messaging.beat:ElectedScheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 1
CELERY_BEAT_SYNC_EVERY = 1
CELERY_TIMEZONE = "UTC"
CELERY_ENABLE_UTC = True
CELERY_BEAT_SCHEDULE: dict[str, Any] = {}
if not CELL:  # sessions are in the first database
    CELERY_BEAT_SCHEDULE["valkyr: sessions"] = {
        "task": "executions.clear_browser_sessions",
        "schedule": timedelta(hours=1),
        "options": {"expires": 4200.0, "queue": "control"},
    }

# ---- The API.
SIMPLE_JWT: dict[str, Any] = {}
DATA_UPLOAD_MAX_MEMORY_SIZE = env.integer("VALKYR_MAX_BODY_BYTES", 5 * 1024 * 1024)
APPEND_SLASH = True
# ---- Valkyr's own settings that differ from their defaults (executions/configuration).
VALKYR: dict[str, Any] = {
    "PUBLIC_URL": f"http://localhost:{env.integer('PORT', 8000)}",
    # Set here, so that no worker needs to load the urlconf (executions/addresses.py).
    "URL_PREFIX": "",
    "ADMIN_PREFIX": "admin/",
    "DATABASE_DIRECT_URL": DATABASE_DIRECT_URL,
    "REDIS_URL": REDIS_URL,
    "KEY_PREFIX": _key_prefix,
    "CELLS": list(CELLS),
    "CELL": CELL,
    "QUEUE_PREFIX": "",  # this Celery app carries only Valkyr's tasks
    "FLOWER_URL": env.text("FLOWER_URL", f"http://127.0.0.1:{env.integer('FLOWER_PORT', 5555)}/"),
}

# ---- Pages.
LANGUAGE_CODE = "en"  # if a browser accepts none of LANGUAGES
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("es", "Español")]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True
STATIC_URL = "static/"
STATIC_ROOT = Path(env.text("VALKYR_STATIC_ROOT", str(HOME / "static")))
STATICFILES_DIRS = [BASE_DIR / "valkyr_project" / "overrides"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}
LOGIN_URL = reverse_lazy("admin:login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# A copy, because plugins extend it, and a forked process reads these settings again.
UNFOLD = deepcopy(unfold.UNFOLD)

# Columns for people at a terminal, JSON objects for log collectors.
_people = DEBUG or INSTALLATION.local
LOGGING = logging(
    env.text("VALKYR_LOG_FORMAT", "text" if _people else "json"),
    env.text("VALKYR_LOG_LEVEL", "WARNING"),
)
_files = "connectors" in plugins.chosen() and "VALKYR_FILES_ROOT" not in os.environ
if INSTALLATION.local and _files:
    # All workspaces share this folder, so it must be configured explicitly if others have access.
    VALKYR["FILES_ROOT"] = str(HOME / "files")

plugins.configure(globals())
