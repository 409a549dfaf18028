"""Workspaces and their tiers: create, rename, move to another tier, archive and restore.

Triggers start nothing in an archived workspace; accepted executions run to their end, and no row is
deleted.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.utils.text import slugify

from executions.access.actor import Actor
from executions.accounts.audit import audit
from executions.accounts.errors import InUse, Taken
from executions.admission.capacity import lock_workspace
from executions.configuration import settings
from executions.database import alias, transaction
from executions.database.advisory_locks import AdvisoryLock, hold, try_to_hold
from executions.database.clock import database_now
from executions.database.routing import aliases, serving
from executions.definition.graph.problem import DefinitionProblem
from executions.egress.rules import problems_of, stored
from executions.egress.workspace_rules import forget
from executions.errors import NotFound, WithProblems
from executions.models import Tier, Workspace
from executions.triggers import sync

CHANGEABLE = ("name", "tier", "archived", "egress_hosts", "publish_from_git")


def create_workspace(name: str, tier: Tier, *, actor: Actor, slug: str = "") -> Workspace:
    """Create a workspace; derive the slug from the name if none is given. A slug never changes.

    Raises Taken if the slug exists. Raises WithProblems if no slug can be derived, or in a process
    of one cell. With cells, every cell must respond, because a slug is unique across all cells.
    """
    slug = slug or slugify(name)[:80].strip("-")
    if not slug:
        message = (
            f"No slug can be derived from {name[:40]!r}. Enter a slug of letters, "
            "digits and hyphens."
        )
        raise WithProblems("Not valid: slug.", [DefinitionProblem("slug", "required", message)])
    workspace = Workspace(name=name, slug=slug, tier=tier, created_at=database_now())
    try:
        with transaction.atomic():
            _reserve(slug)
            workspace.save(force_insert=True)
            audit(actor, "workspace.create", workspace, after=workspace_facts(workspace))
    except IntegrityError:
        raise _taken(slug) from None
    return workspace


def _reserve(slug: str) -> None:
    """Hold the slug until the open transaction ends. Raises Taken if another cell has it.

    Raises WithProblems in a process of one cell. Each creation locks the slug in its own database,
    and then queries the other cells. So if two cells create the same slug at the same time, at
    least one finds the other's lock or row.
    """
    if cell := settings().cell:
        message = (
            f"This process serves only the cell {cell!r}, and a slug must be free in all cells. "
            "Create the workspace in a process without VALKYR_CELL."
        )
        raise WithProblems("Not valid: slug.", [DefinitionProblem("slug", "invalid", message)])
    others = [one for one in aliases() if one != alias()]
    if not others:
        return
    hold(AdvisoryLock.WORKSPACE_SLUGS, slug)
    for other in others:
        with serving(other), transaction.atomic():
            free = try_to_hold(AdvisoryLock.WORKSPACE_SLUGS, slug)
            if not free or Workspace.objects.filter(slug=slug).exists():
                raise _taken(slug)


def _taken(slug: str) -> Taken:
    return Taken(f"A workspace {slug!r} already exists. Choose another slug.")


def change_workspace(
    workspace_id: UUID, changes: Mapping[str, Any], *, actor: Actor, reason: str = ""
) -> Workspace:
    """Change those fields of a workspace that `changes` names (see CHANGEABLE); `tier` is a Tier.

    Raises NotFound, TypeError for other names, and WithProblems for invalid egress hosts. Schedules
    do not catch up on fire times at which their workspace was archived.
    """
    unknown = sorted(set(changes) - set(CHANGEABLE))
    if unknown:
        raise TypeError(f"{unknown} of a workspace cannot be changed; only {CHANGEABLE}.")
    found = problems_of(changes.get("egress_hosts", ()))
    if found:
        raise WithProblems(f"Not valid: {found[0].path}.", found)
    with transaction.atomic():
        archived = changes.get("archived")
        # Lock triggers before their workspace, in the same order as starts of executions do.
        schedules = [] if archived is None else sync.lock_schedules(workspace_id)
        workspace = _locked(workspace_id)
        before = workspace_facts(workspace)
        workspace.name = changes.get("name", workspace.name)
        workspace.tier = changes.get("tier", workspace.tier)
        workspace.publish_from_git = changes.get("publish_from_git", workspace.publish_from_git)
        if "egress_hosts" in changes:
            workspace.egress_hosts = stored(changes["egress_hosts"])
        if archived is not None and archived != (workspace.archived_at is not None):
            workspace.archived_at = database_now() if archived else None
            sync.hold_schedules(schedules, held=archived)
        if workspace_facts(workspace) != before:
            columns = ["name", "tier", "archived_at", "egress_hosts", "publish_from_git"]
            workspace.save(update_fields=columns)
            action = _action(before, workspace_facts(workspace))
            after = workspace_facts(workspace)
            audit(actor, action, workspace, before=before, after=after, reason=reason)
            transaction.on_commit(partial(forget, workspace_id))
    return workspace


def archive_workspace(workspace_id: UUID, *, actor: Actor, reason: str = "") -> Workspace:
    """Archive a workspace: it accepts no new executions until it is restored.

    Does nothing if it is archived already. Raises NotFound.
    """
    return change_workspace(workspace_id, {"archived": True}, actor=actor, reason=reason)


def restore_workspace(workspace_id: UUID, *, actor: Actor, reason: str = "") -> Workspace:
    """Restore an archived workspace, which then accepts new executions again. Raises NotFound."""
    return change_workspace(workspace_id, {"archived": False}, actor=actor, reason=reason)


def workspace_facts(workspace: Workspace) -> dict[str, Any]:
    """Return a workspace's values for the audit trail."""
    return {
        "name": workspace.name,
        "slug": workspace.slug,
        "tier": workspace.tier.name,
        "egressHosts": list(workspace.egress_hosts),
        "publishFromGit": workspace.publish_from_git,
        "archived": workspace.archived_at is not None,
    }


def _action(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    if before["archived"] == after["archived"]:
        return "workspace.update"
    return "workspace.archive" if after["archived"] else "workspace.restore"


def _locked(workspace_id: UUID) -> Workspace:
    lock_workspace(workspace_id)
    workspace = Workspace.objects.select_related("tier").filter(pk=workspace_id).first()
    if workspace is None:
        raise NotFound(f"There is no workspace {workspace_id}.")
    return workspace


# Tiers are limits that workspaces share. A new limit applies from the next admission on.


LIMITS = ("max_concurrent", "max_pending", "max_per_hour", "max_per_day")
CHANGEABLE_LIMITS = ("name", *LIMITS)


def create_tier(values: Mapping[str, Any], *, actor: Actor) -> Tier:
    """Create a tier from `name` and limits (None: no limit). Raises Taken."""
    tier = Tier(created_at=database_now(), **values)
    with transaction.atomic():
        _save(tier, force_insert=True)
        audit(actor, "tier.create", tier, after=tier_facts(tier))
    return tier


def change_tier(tier_id: UUID, changes: Mapping[str, Any], *, actor: Actor) -> Tier:
    """Change the name or the limits of a tier. Raises NotFound or Taken."""
    with transaction.atomic():
        tier = _locked_tier(tier_id)
        before = tier_facts(tier)
        for name, value in changes.items():
            setattr(tier, name, value)
        if tier_facts(tier) != before:
            _save(tier, update_fields=list(CHANGEABLE_LIMITS))
            audit(actor, "tier.update", tier, before=before, after=tier_facts(tier))
    return tier


def delete_tier(tier_id: UUID, *, actor: Actor, reason: str = "") -> None:
    """Delete a tier without workspaces. Raises NotFound or InUse."""
    with transaction.atomic():
        tier = _locked_tier(tier_id)
        slugs = list(tier.workspaces.values_list("slug", flat=True)[:3])
        if slugs:
            raise InUse(
                f"Workspaces use tier {tier.name!r} ({', '.join(slugs)}). Move them to another "
                "tier first."
            )
        audit(actor, "tier.delete", tier, before=tier_facts(tier), reason=reason)
        tier.delete()


def tier_facts(tier: Tier) -> dict[str, Any]:
    """Return a tier's values for the audit trail."""
    return {name: getattr(tier, name) for name in CHANGEABLE_LIMITS}


def _locked_tier(tier_id: UUID) -> Tier:
    tier = Tier.objects.select_for_update().filter(pk=tier_id).first()
    if tier is None:
        raise NotFound(f"There is no tier {tier_id}.")
    return tier


def _save(tier: Tier, **how: Any) -> None:
    try:
        with transaction.atomic():
            tier.save(**how)
    except IntegrityError:
        raise Taken(f"A tier {tier.name!r} already exists. Choose another name.") from None
