"""Making, changing and taking away quotas: the only writer of them, each time audited."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction

from executions.access.actor import Actor, record
from executions.database.clock import database_now
from executions.definition.graph.problem import Problem
from executions.errors import NotFound, ValkyrError
from executions.models import Membership, Quota, Workspace
from executions.quotas.rules import LIMITS, QuotaRefused, check, described
from executions.states import Resource


class QuotaExists(ValkyrError):
    """There is a quota for that already; change it instead."""

    code = "quota_exists"


def create_quota(
    workspace: Workspace,
    limits: Mapping[str, int | None],
    *,
    user_id: int | None,
    actor: Actor,
    resource: str = Resource.EXECUTIONS,
    target: str = "",
) -> Quota:
    """Limit a workspace, or one of its members; raises QuotaRefused, QuotaExists.

    `target` is the module type, or the model whose tokens are limited (empty: those of all).
    """
    what = {"resource": resource, "target": target}
    quota = Quota(workspace=workspace, user_id=user_id, created_at=database_now(), **what, **limits)
    check(quota)
    if user_id is not None and not _is_member(workspace, user_id):
        raise QuotaRefused(
            "Only a member can have a quota.",
            [Problem("userId", "no_member", f"{user_id} is no member of {workspace.slug!r}.")],
        )
    try:
        with transaction.atomic():
            quota.save(force_insert=True)
            _audit(actor, "quota.create", quota, after=_facts(quota))
    except IntegrityError:
        whose = "the workspace" if user_id is None else f"user {user_id}"
        raise QuotaExists(
            f"There is a quota for {whose} already, on {described(quota)}. Change that one."
        ) from None
    return quota


def change_quota(quota_id: UUID, changes: Mapping[str, int | None], *, actor: Actor) -> Quota:
    """Set other limits, which hold at once; raises NotFound, QuotaRefused."""
    with transaction.atomic():
        quota = _locked(quota_id)
        before = _facts(quota)
        for name, value in changes.items():
            setattr(quota, name, value)
        check(quota)
        if _facts(quota) != before:
            quota.save(update_fields=LIMITS)
            _audit(actor, "quota.update", quota, before=before, after=_facts(quota))
    return quota


def delete_quota(quota_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Take a quota away: nothing of it holds any more; raises NotFound."""
    with transaction.atomic():
        quota = _locked(quota_id)
        _audit(actor, "quota.delete", quota, before=_facts(quota), reason=reason)
        quota.delete()


def _is_member(workspace: Workspace, user_id: int) -> bool:
    return Membership.objects.filter(workspace=workspace, user_id=user_id).exists()


def _locked(quota_id: UUID) -> Quota:
    rows = Quota.objects.select_for_update(no_key=True, of=("self",)).select_related("user")
    quota = rows.filter(pk=quota_id).first()
    if quota is None:
        raise NotFound(f"There is no quota {quota_id}.")
    return quota


def _facts(quota: Quota) -> dict[str, Any]:
    what = ("user_id", "resource", "target", *LIMITS)
    return {name: getattr(quota, name) for name in what}


def _audit(actor: Actor, action: str, quota: Quota, **what: Any) -> None:
    record(
        actor,
        action,
        workspace_id=quota.workspace_id,
        object_type="Quota",
        object_id=quota.pk,
        **what,
    )
