"""Settings of a project that has Valkyr's apps among its own."""

from valkyr_project.settings import *  # noqa: F403
from valkyr_project.settings import DATABASES, STORAGES

ROOT_URLCONF = "tests.hostile.urls"
MIDDLEWARE = [
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "valkyr_plugins.mfa.middleware.SecondFactorMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # the plugin sso needs it
]
DATABASES["default"]["ATOMIC_REQUESTS"] = True
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
USE_I18N = True
LANGUAGE_CODE = "de"
TIME_ZONE = "America/New_York"
CSRF_COOKIE_NAME = "host-csrf"
CSRF_HEADER_NAME = "HTTP_X_HOST_CSRF"
VALKYR = {"AUTHENTICATION_CLASSES": ["tests.hostile.framework.Badge"]}
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_RENDERER_CLASSES": ["tests.hostile.framework.Wrapped"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.FormParser"],
    "DEFAULT_THROTTLE_CLASSES": ["rest_framework.throttling.AnonRateThrottle"],
    "DEFAULT_THROTTLE_RATES": {"anon": "1/day"},
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "tests.hostile.framework.First",
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.AcceptHeaderVersioning",
    "ALLOWED_VERSIONS": ["host"],
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "PAGE_SIZE": 1,
    "DEFAULT_SCHEMA_CLASS": "rest_framework.schemas.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "tests.hostile.framework.teapot",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": "limit",
    "FORMAT_SUFFIX_KWARG": "id",
    "NON_FIELD_ERRORS_KEY": "everything",
    "DATETIME_FORMAT": "%d.%m.%Y",
    "DATETIME_INPUT_FORMATS": ["%d.%m.%Y"],
    "COERCE_DECIMAL_TO_STRING": False,
    "COMPACT_JSON": False,
    "UNICODE_JSON": False,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Host",
    "VERSION": "7",
    "OAS_VERSION": "3.0.3",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "CAMELIZE_NAMES": True,
    "SCHEMA_PATH_PREFIX_INSERT": "/inserted",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENUM_NAME_OVERRIDES": {"Colour": ["red", "blue"]},
    "POSTPROCESSING_HOOKS": [],
}
