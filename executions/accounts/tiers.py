"""Tiers: the limits that workspaces share; a new limit holds from the next admission on."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from executions.access.actor import Actor
from executions.accounts.audit import audit
from executions.accounts.errors import InUse, Taken
from executions.database.clock import database_now
from executions.errors import NotFound
from executions.models import Tier

LIMITS = ("max_concurrent", "max_pending", "max_per_hour", "max_per_day")
CHANGEABLE = ("name", *LIMITS)


def create_tier(values: Mapping[str, Any], *, actor: Actor) -> Tier:
    """A new tier from `name` and limits (None: no limit); raises Taken."""
    tier = Tier(created_at=database_now(), **values)
    with transaction.atomic():
        _save(tier, force_insert=True)
        audit(actor, "tier.create", tier, after=facts(tier))
    return tier


def change_tier(tier_id: UUID, changes: Mapping[str, Any], *, actor: Actor) -> Tier:
    """Change the name or limits; raises NotFound, Taken."""
    with transaction.atomic():
        tier = _locked(tier_id)
        before = facts(tier)
        for name, value in changes.items():
            setattr(tier, name, value)
        if facts(tier) != before:
            _save(tier, update_fields=list(CHANGEABLE))
            audit(actor, "tier.update", tier, before=before, after=facts(tier))
    return tier


def delete_tier(tier_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Delete a tier that no workspace is on; raises NotFound, InUse."""
    with transaction.atomic():
        tier = _locked(tier_id)
        slugs = list(tier.workspaces.values_list("slug", flat=True)[:3])
        if slugs:
            raise InUse(
                f"Workspaces are on tier {tier.name!r} ({', '.join(slugs)}). Put them on another "
                "one first."
            )
        audit(actor, "tier.delete", tier, before=facts(tier), reason=reason)
        tier.delete()


def facts(tier: Tier) -> dict[str, Any]:
    """What the audit trail keeps of a tier."""
    return {name: getattr(tier, name) for name in CHANGEABLE}


def _locked(tier_id: UUID) -> Tier:
    tier = Tier.objects.select_for_update().filter(pk=tier_id).first()
    if tier is None:
        raise NotFound(f"There is no tier {tier_id}.")
    return tier


def _save(tier: Tier, **how: Any) -> None:
    try:
        with transaction.atomic():
            tier.save(**how)
    except IntegrityError:
        raise Taken(f"There is a tier {tier.name!r} already. Choose another name.") from None
