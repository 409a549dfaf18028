"""The sealed column of one rule: a JSON object with its channel's secret, bound to the row."""

import json
from collections.abc import Mapping
from uuid import UUID

from executions.public.sealing import (
    KeyUnknown,
    Sealed,
    SealedColumn,
    place_of,
    register,
    seal,
    unseal,
)
from valkyr_plugins.alerts.models import AlertChannel, AlertRule

# As the modules that send call it.
FIELDS: Mapping[str, str] = {
    AlertChannel.EMAIL: "url",
    AlertChannel.SLACK: "webhook_url",
    AlertChannel.WEBHOOK: "secret",
}

register(SealedColumn(AlertRule))


def sealed(rule_id: UUID, secret: str) -> Sealed:
    """The secret (empty for none) sealed for the row; in the transaction that stores it."""
    text = json.dumps({"secret": secret} if secret else {})
    return seal(text.encode(), place_of(AlertRule(pk=rule_id)))


def secret_of(rule: AlertRule) -> str:
    """The rule's secret, empty for none; raises sealing's errors."""
    try:
        return _opened(rule)
    except KeyUnknown:
        # Sealed anew since it was read, and the key before is gone.
        rule.refresh_from_db(fields=["sealed", "key_id"])
        return _opened(rule)


def credential_of(rule: AlertRule) -> dict[str, str] | None:
    """The secret as the channel's module takes it; None for none."""
    secret = secret_of(rule)
    return {FIELDS[rule.channel]: secret} if secret else None


def _opened(rule: AlertRule) -> str:
    found: dict[str, str] = json.loads(unseal(rule.sealed, place_of(AlertRule(pk=rule.pk))))
    return found.get("secret", "")
