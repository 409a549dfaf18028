"""The S3 server that a step uses: the step's own, the administrator's, or Amazon's.

The endpoint in a step is not trusted: only addresses that HTTP steps may reach are used. The
administrator's own (`VALKYR_S3_ENDPOINT`) may be in a private network.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from runners.public.modules import StepError
from valkyr_plugins.connectors.conf import settings

S3_ENDPOINT = "VALKYR_S3_ENDPOINT"
S3_REGION = "VALKYR_S3_REGION"
DEFAULT_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class S3Endpoint:
    """The S3 server, `trusted` if an administrator set it; `url` is None for Amazon's."""

    url: str | None
    region: str
    trusted: bool

    @property
    def host(self) -> str:
        """Return the host for display, with its port unless that is 80 or 443."""
        if self.url is None:
            return f"s3.{self.region}.amazonaws.com"
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
        return f"{parts.hostname}{port}"

    @property
    def address(self) -> tuple[str, int]:
        """Return the host and the port."""
        parts = urlsplit(self.url or f"https://{self.host}")
        return parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)


def endpoint_of(url: str | None, region: str | None) -> S3Endpoint:
    """Return the endpoint at `url` or, without `url`, the configured endpoint or Amazon's.

    Raises StepError if the region or the endpoint is invalid.
    """
    region = region or settings().s3_region or DEFAULT_REGION
    if not region.replace("-", "").isalnum() or not region.isascii():
        raise StepError(
            f"region {region[:60]!r} is not valid: expected a name such as eu-central-1"
        )
    if url:
        return S3Endpoint(_checked(url, "endpoint"), region, trusted=False)
    setting = settings().s3_endpoint
    if setting:
        return S3Endpoint(_checked(setting, S3_ENDPOINT), region, trusted=True)
    return S3Endpoint(None, region, trusted=False)


def _checked(url: str, name: str) -> str:
    """Return the URL without a trailing slash. Raises StepError if it is not an origin.

    The error does not quote the URL, because it may hold a password.
    """
    try:
        parts = urlsplit(url)
        plain = parts.port != 0 and not (parts.username or parts.password)
    except ValueError:
        plain, parts = False, urlsplit("")
    bare = parts.path in ("", "/") and not parts.query and not parts.fragment
    plain = plain and _is_plain_host(parts.hostname or "")
    if parts.scheme not in ("http", "https") or not (plain and bare):
        raise StepError(
            f"{name} is not an S3 endpoint: expected https://host:port, without a path and "
            "without a user"
        )
    return url.rstrip("/")


def _is_plain_host(host: str) -> bool:
    """Return whether a host is in the usual form, unlike 2130706433 (127.0.0.1)."""
    if not host or (":" not in host and not host.replace(".", "").isdigit()):
        return bool(host)
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
