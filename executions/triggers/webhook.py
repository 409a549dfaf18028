"""WEBHOOK triggers: authenticate a request, then start at most one execution for it.

If authentication fails, the error reveals neither whether the trigger exists nor what was wrong.
"""

import hmac
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.utils.crypto import salted_hmac

from executions.access.actor import Actor
from executions.database import transaction
from executions.database.clock import database_now
from executions.errors import ValkyrError, WrongState
from executions.models import Trigger, WebhookDelivery
from executions.payloads import digest
from executions.states import TriggerType
from executions.triggers import signature
from executions.triggers.start import Started, start_execution
from executions.triggers.stored_input import stored
from executions.triggers.sync import audit, locked

# A webhook's secret is derived from the installation's key, the trigger and a counter. It is never
# stored.

SALT = "valkyr.webhook"


def secret_of(trigger_id: UUID, version: int) -> str:
    """Return the secret with this version number, as users see it: 64 hex characters."""
    return _derived(trigger_id, version, settings.SECRET_KEY)


def accepted_secrets(trigger_id: UUID, version: int) -> Iterator[str]:
    """Yield the secret with this version number, from Django's current and earlier secret keys."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield _derived(trigger_id, version, key)


def _derived(trigger_id: UUID, version: int, key: str | bytes) -> str:
    return salted_hmac(SALT, f"{trigger_id}:{version}", secret=key, algorithm="sha256").hexdigest()


# Seconds for which the previous secret is accepted after a rotation, by default and at most.
OVERLAP_SECONDS = 24 * 3600
MAX_OVERLAP_SECONDS = 7 * 24 * 3600

# Time after which a stored signature is certainly no longer fresh: a signature's time may be as far
# in the future as in the past.
KEPT = timedelta(seconds=2 * signature.WINDOW_SECONDS)
PRUNED_AT_ONCE = 5_000


class NotAuthentic(ValkyrError):
    """Rejected: expected this address's token, or a fresh signature that was not used before."""

    code = "not_authentic"


class NoWebhook(ValkyrError):
    """Only WEBHOOK triggers have a secret."""

    code = "no_webhook"


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A request: the body, and the two headers that may authenticate it."""

    body: bytes
    signature: str
    authorization: str


@dataclass(frozen=True, slots=True)
class Authentic:
    """An authenticated request's trigger; `signed` is the signed text's digest, None for tokens."""

    trigger: Trigger
    signed: str | None


def authenticate(trigger_id: UUID, request: WebhookRequest) -> Authentic:
    """Authenticate a request; return its trigger, even a disabled one. Raises NotAuthentic."""
    trigger = (
        Trigger.objects.filter(pk=trigger_id, type=TriggerType.WEBHOOK)
        .select_related("workflow")
        .defer("workflow__definition")
        .first()
    )
    # Also compare if the trigger is missing, so that the rejection takes as long.
    version = 1 if trigger is None else trigger.secret_version
    prove = _token if trigger is not None and trigger.settings["auth"] == "bearer" else _signed
    proof = prove(trigger_id, version, request)
    # Also compare the previous secret, even if it is not accepted, so that the time does not reveal
    # it.
    former = prove(trigger_id, version - 1, request)
    if proof is None and trigger is not None and _overlaps(trigger):
        proof = former
    if trigger is None or proof is None:
        raise NotAuthentic
    return Authentic(trigger, proof or None)


def accept(
    caller: Authentic, payload: Any, *, actor: Actor, idempotency_key: str | None = None
) -> Started:
    """Start the trigger's workflow for an authenticated request.

    Raises NotAuthentic for a used signature, WrongState for a disabled trigger, and the errors of
    `stored` and `start_execution`; a request that started no execution may be sent again.
    """
    trigger = caller.trigger
    if not trigger.enabled:
        raise WrongState(
            "This webhook is disabled, or is no longer in the workflow's published version.",
            "RETIRED" if trigger.retired_at else "DISABLED",
        )
    payload = stored(trigger.workflow.workspace_id, payload)
    with transaction.atomic():
        delivery = _once(trigger, caller.signed) if caller.signed else None
        started = start_execution(
            trigger.workflow,
            payload,
            actor=actor,
            trigger_type=TriggerType.WEBHOOK,
            trigger=trigger,
            idempotency_key=idempotency_key and f"hook:{trigger.pk}:{digest(idempotency_key)}",
        )
        if delivery is not None:
            delivery.execution = started.execution
            delivery.save(update_fields=["execution"])
    return started


def reveal(trigger_id: UUID, *, actor: Actor, reason: str = "") -> str:
    """Return the webhook's secret for a user, and write an audit row.

    Raises NotFound or NoWebhook.
    """
    with transaction.atomic():
        trigger = _webhook(trigger_id)
        audit(actor, "trigger.reveal", trigger, reason)
    return secret_of(trigger.pk, trigger.secret_version)


def rotate(
    trigger_id: UUID, *, actor: Actor, reason: str = "", overlap: int = OVERLAP_SECONDS
) -> str:
    """Replace the webhook's secret, return the new secret, and write an audit row.

    The previous secret stays valid for `overlap` seconds; 0 rejects it immediately. All secrets
    before the previous one are rejected from now on. Raises NotFound, NoWebhook or ValueError.
    """
    if not 0 <= overlap <= MAX_OVERLAP_SECONDS:
        raise ValueError(f"The overlap is {overlap} s; expected 0 to {MAX_OVERLAP_SECONDS}.")
    with transaction.atomic():
        trigger = _webhook(trigger_id)
        was = {"secretVersion": trigger.secret_version}
        trigger.secret_version += 1
        until = database_now() + timedelta(seconds=overlap)
        trigger.former_secret_until = until if overlap else None
        trigger.save(update_fields=["secret_version", "former_secret_until"])
        now = {"secretVersion": trigger.secret_version}
        about = {"overlapSeconds": overlap}
        audit(actor, "trigger.rotate", trigger, reason, about, before=was, after=now)
    return secret_of(trigger.pk, trigger.secret_version)


def prune() -> int:
    """Delete signatures that are too old to be accepted, at most 5,000; return the number."""
    old = WebhookDelivery.objects.filter(created_at__lt=database_now() - KEPT)
    with transaction.atomic():
        rows = old.select_for_update(skip_locked=True).order_by("created_at")
        ids = list(rows.values_list("pk", flat=True)[:PRUNED_AT_ONCE])
        return WebhookDelivery.objects.filter(pk__in=ids).delete()[0]


def _overlaps(trigger: Trigger) -> bool:
    """Return whether the previous secret is still accepted."""
    until = trigger.former_secret_until
    return until is not None and database_now() < until


def _signed(trigger_id: UUID, version: int, request: WebhookRequest) -> str | None:
    found = signature.read(request.signature)
    if found is None or not signature.is_fresh(found, database_now().timestamp()):
        return None
    if not signature.is_signed(found, request.body, accepted_secrets(trigger_id, version)):
        return None
    return signature.fingerprint(found, request.body)


def _token(trigger_id: UUID, version: int, request: WebhookRequest) -> str | None:
    scheme, _, token = request.authorization.partition(" ")
    given = token.strip().encode()
    secrets = accepted_secrets(trigger_id, version)
    matches = [hmac.compare_digest(given, secret.encode()) for secret in secrets]
    return "" if scheme.lower() == "bearer" and any(matches) else None


def _once(trigger: Trigger, signed: str) -> WebhookDelivery:
    try:
        with transaction.atomic():
            return WebhookDelivery.objects.create(trigger=trigger, signature=signed)
    except IntegrityError:
        raise NotAuthentic from None


def _webhook(trigger_id: UUID) -> Trigger:
    trigger = locked(trigger_id)
    if trigger.type != TriggerType.WEBHOOK:
        raise NoWebhook(f"Trigger {trigger_id} is a {trigger.type} trigger, which has no secret.")
    return trigger
