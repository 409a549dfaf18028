"""Find settings that are unsafe if other machines can reach the installation.

An installation is local while all its host names are this machine's own. Messages name the variable
and the value to set, never a secret. This module is pure.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import unquote, urlsplit

SHORTEST_KEY = 50
FEWEST_CHARACTERS = 10
# Parts of keys in tutorials, templates and our own placeholder. Random text does not contain them.
KNOWN_KEYS = ("changeme", "change-me", "django-insecure", "insecure", "secret-key", "secretkey")
KNOWN_PASSWORDS = frozenset(
    {"postgres", "password", "passw0rd", "admin", "changeme", "secret", "valkyr", "redis", "guest"}
)
# The separator of servers in a list; a semicolon in a password does not match.
_LIST = re.compile(r";(?=[a-z][a-z0-9+.-]*://)")


@dataclass(frozen=True, slots=True)
class Installation:
    """The settings to check; `addresses` maps variables to the URLs of databases and brokers."""

    hosts: Sequence[str]
    secret_key: str = field(repr=False)
    old_keys: Sequence[str] = field(default=(), repr=False)
    debug: bool = False
    insecure_key: bool = False
    https: bool = False
    allow_http: bool = False
    proxies: Sequence[str] = ()
    addresses: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def local(self) -> bool:
        """Return whether only this machine can reach the installation."""
        return all(is_local(host) for host in self.hosts)


def refusals(one: Installation) -> list[str]:
    """Return the reasons why this installation must not start; [] if it may start."""
    return [*_hosts(one), *_debug(one), *_keys(one), *_http(one)]


def warnings(one: Installation) -> list[str]:
    """Return probable mistakes in the settings; some of them can be intentional."""
    found = [text for name, url in one.addresses.items() for text in _passwords(name, url)]
    if one.https and not one.proxies:
        found.append(
            "VALKYR_TRUSTED_PROXIES is not set, but VALKYR_HTTPS is: the audit trail and the "
            "rate limits see only the proxy's address. Set it to the proxy's address."
        )
    if one.allow_http and not one.https and not one.local:
        found.append(
            "VALKYR_ALLOW_HTTP is 1: passwords, tokens and cookies are sent unencrypted. Put "
            "a proxy that terminates TLS in front, then set VALKYR_HTTPS=1."
        )
    return found


def is_local(host: str) -> bool:
    """Return whether a host name (as in ALLOWED_HOSTS) can only refer to this machine."""
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return name != ".localhost"
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def _hosts(one: Installation) -> Iterable[str]:
    if not one.hosts:
        yield (
            "VALKYR_ALLOWED_HOSTS names no host. Set the names under which this installation is "
            "reached, e.g. valkyr.example.org."
        )
    for host in one.hosts:
        if "*" in host or not host.strip("."):
            yield (
                f"VALKYR_ALLOWED_HOSTS holds {host!r}, so a request can choose the host in "
                "generated addresses. Name the hosts."
            )


def _debug(one: Installation) -> Iterable[str]:
    if one.debug and not one.local:
        yield (
            "VALKYR_DEBUG is 1 with a host that others can reach (VALKYR_ALLOWED_HOSTS is "
            f"{','.join(one.hosts)}): error pages would show settings and data. Set "
            "VALKYR_DEBUG=0."
        )


def _keys(one: Installation) -> Iterable[str]:
    if one.insecure_key:
        if not one.local:
            yield (
                "VALKYR_INSECURE_KEY is 1 with a host that others can reach: sessions could "
                "be forged. Unset it and set VALKYR_SECRET_KEY."
            )
        return
    named = [("VALKYR_SECRET_KEY", one.secret_key)]
    named += [("VALKYR_SECRET_KEY_FALLBACKS", key) for key in one.old_keys]
    for name, key in named:
        if fault := _fault(key):
            yield (
                f"{name} {fault}; sessions and tokens could be forged. Set {SHORTEST_KEY} or more "
                "random characters, e.g. of: "
                "python -c 'import secrets; print(secrets.token_urlsafe(60))'"
            )


def _fault(key: str) -> str:
    if any(known in key.lower() for known in KNOWN_KEYS):
        return "is publicly known"
    if len(key) < SHORTEST_KEY:
        return f"has {len(key)} characters"
    if len(set(key)) < FEWEST_CHARACTERS:
        return f"has only {len(set(key))} different characters"
    return ""


def _http(one: Installation) -> Iterable[str]:
    if not (one.https or one.allow_http or one.local):
        yield (
            "VALKYR_HTTPS is 0 with a host that others can reach (VALKYR_ALLOWED_HOSTS is "
            f"{','.join(one.hosts)}): passwords and cookies would be sent unencrypted. Put a "
            "proxy that terminates TLS in front and set VALKYR_HTTPS=1, or accept this with "
            "VALKYR_ALLOW_HTTP=1."
        )


def _passwords(name: str, urls: str) -> Iterable[str]:
    """Return warnings about the passwords in a list of servers, such as `amqp://a//;amqp://b//`."""
    found = [text for url in _LIST.split(urls) for text in _password(name, url)]
    return dict.fromkeys(found)


def _password(name: str, url: str) -> Iterable[str]:
    parts = urlsplit(url)
    password = unquote(parts.password or "")
    if password.lower() in KNOWN_PASSWORDS or (password and password == parts.username):
        yield f"{name} has a common password. Choose a random one."
    elif not password and parts.hostname and not is_local(parts.hostname) and not _has_key(url):
        yield (
            f"{name} names a server on another machine ({parts.hostname}) without a password. "
            "Anyone who can reach it can read all data. Set a password, or isolate that "
            "network."
        )


def _has_key(url: str) -> bool:
    """Return whether the URL names a client certificate, which replaces a password."""
    return bool(re.search(r"[?&](sslcert|ssl_certfile)=", url))
