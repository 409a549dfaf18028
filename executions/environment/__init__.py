"""Read environment variables with types; errors name the variable."""

import math
import os
from urllib.parse import parse_qsl, unquote, urlparse, urlsplit

from django.core.exceptions import ImproperlyConfigured

TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


def text(name: str, default: str = "") -> str:
    """Return the variable's text; `default` if the variable is unset or empty."""
    return os.environ.get(name, "").strip() or default


def flag(name: str, default: bool) -> bool:
    """Return the variable as a boolean, or `default` if unset. Raises ImproperlyConfigured."""
    raw = os.environ.get(name)
    if raw is None:
        return default
    if raw.strip().lower() in TRUE:
        return True
    if raw.strip().lower() in FALSE:
        return False
    raise ImproperlyConfigured(f"{name} is {raw!r}; expected 1 or 0 (or true, false, yes, no).")


def number(name: str, default: float) -> float:
    """Return the variable as a number; `default` if unset or empty. Raises ImproperlyConfigured."""
    raw = text(name)
    if not raw:
        return default
    try:
        value = float(raw)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ImproperlyConfigured(f"{name} is {raw!r}; expected a number.")
    return value


def integer(name: str, default: int) -> int:
    """Return the variable as an int; `default` if unset or empty. Raises ImproperlyConfigured."""
    value = number(name, default)
    if value != int(value):
        raise ImproperlyConfigured(f"{name} is {value!r}; expected a whole number.")
    return int(value)


def whole(name: str, default: int, least: int = 0) -> int:
    """Return the variable as a whole number; `default` if it is unset or empty.

    Raises ImproperlyConfigured if it is not a whole number, or is less than `least`.
    """
    value = integer(name, default)
    if value < least:
        raise ImproperlyConfigured(f"{name} is {value}; expected {least} or more.")
    return value


def words(name: str, default: tuple[str, ...] = ()) -> list[str]:
    """Return the variable split at commas; `default` if it is unset or empty."""
    raw = text(name)
    return [word.strip() for word in raw.split(",") if word.strip()] if raw else list(default)


def database(url: str) -> dict[str, object]:
    """Return Django's settings for `postgres://user:password@host:port/name?option=value`.

    Commas separate several servers: `host1:5432,host2:5432`. Raises ImproperlyConfigured.
    """
    parts = urlparse(url)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ImproperlyConfigured(
            f"DATABASE_URL has the scheme {parts.scheme!r}; expected postgres:// or postgresql://."
        )
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")) or "valkyr",
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        **_servers(parts.netloc.rpartition("@")[2]),
        "OPTIONS": dict(parse_qsl(parts.query)),
    }


def _servers(addresses: str) -> dict[str, str]:
    """Return HOST and PORT of one or several addresses. Raises ImproperlyConfigured."""
    try:
        found = [urlsplit(f"//{address}") for address in addresses.split(",")]
        ports = [str(one.port or "") for one in found]
    except ValueError as error:
        raise ImproperlyConfigured(
            f"DATABASE_URL names the server {addresses!r} ({error}); expected host:port, or "
            "several of these separated by commas."
        ) from None
    return {
        "HOST": ",".join(unquote(one.hostname or "") for one in found),
        "PORT": ",".join(ports) if any(ports) else "",
    }
