"""A webhook's secret: derived from the installation's key, the trigger and a counter, never stored.

After the installation's key changed, secrets derived from the keys before it
(`SECRET_KEY_FALLBACKS`) are still accepted; what is shown is derived from the new one.
"""

from collections.abc import Iterator
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

SALT = "valkyr.webhook"


def secret_of(trigger_id: UUID, version: int) -> str:
    """The secret as people are given it: 64 hex characters."""
    return _derived(trigger_id, version, settings.SECRET_KEY)


def accepted_secrets(trigger_id: UUID, version: int) -> Iterator[str]:
    """The secrets a sender may use: the present one, then those of earlier installation keys."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield _derived(trigger_id, version, key)


def _derived(trigger_id: UUID, version: int, key: str | bytes) -> str:
    return salted_hmac(SALT, f"{trigger_id}:{version}", secret=key, algorithm="sha256").hexdigest()
