"""Apply a bundle to a workspace in one transaction: everything, or nothing."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from executions.access.actor import Actor, record
from executions.bundles.kinds import BundleContext
from executions.bundles.planning import (
    WORKFLOWS,
    Bundle,
    BundleComparison,
    BundlePlan,
    compare,
    first_problems,
    prepare,
    write_items,
)
from executions.bundles.workflows import write
from executions.database import transaction
from executions.database.clock import database_now
from executions.errors import StaleRevision, WithProblems
from executions.models import AppliedBundle, Workspace
from executions.publishing import bundle_batch

MOST_NAMED = 200  # changes that the audit trail lists


class PlanOutdated(StaleRevision):
    """The workspace or the files changed after the plan. Make a new plan."""

    code = "plan_outdated"


class InvalidBundle(WithProblems):
    """The bundle has problems, so nothing was changed."""

    code = "invalid_bundle"


@dataclass(frozen=True, slots=True)
class BundleSource:
    """The origin of a bundle: a repository, a commit, and a branch or tag."""

    repository: str = ""
    commit: str = ""
    ref: str = ""


@dataclass(slots=True)
class AppliedResult:
    """The applied plan, and the changed workflows' latest version numbers, keyed by slug."""

    plan: BundlePlan
    versions: dict[str, int | None] = field(default_factory=dict)


def apply(
    workspace: Workspace,
    bundle: Bundle,
    actor: Actor,
    *,
    source: BundleSource | None,
    fingerprint: str = "",
) -> AppliedResult:
    """Carry out the bundle's plan, if it still has the fingerprint; "" accepts any plan.

    Without a source, such as for a promoted version, the workspace keeps its recorded source.
    Raises PlanOutdated, InvalidBundle with the problems found, and the errors of publishing. After
    an error, only the writes of `prepare` remain.
    """
    prepare(bundle)
    with transaction.atomic():
        applied = _record(workspace)
        found = compare(workspace, bundle, actor, lock=True)
        _refuse_outdated(found.plan, fingerprint, bundle)
        _refuse_problems(found.plan.problems)
        result = AppliedResult(found.plan, write(found.verdicts, workspace, actor))
        ids = {**found.context.workflows} | {one.slug: one.id for one in found.verdicts}
        found.context = BundleContext(workspace, actor, ids)
        _refuse_problems(write_items(found, bundle))
        if bundle.prune:
            bundle_batch.archive([gone.id for gone in found.gone], actor)
        _note(applied, found, bundle, source, actor)
    return result


def _record(workspace: Workspace) -> AppliedBundle:
    """Lock and return the workspace's record, so that only one bundle is applied at a time."""
    AppliedBundle.objects.get_or_create(workspace=workspace)
    return AppliedBundle.objects.select_for_update(no_key=True).get(workspace=workspace)


def _refuse_outdated(plan: BundlePlan, fingerprint: str, bundle: Bundle) -> None:
    if not fingerprint or fingerprint == plan.fingerprint:
        return
    if fingerprint[32:] != bundle.digest:
        raise PlanOutdated("The files are not those of the plan. Make a new plan, then apply it.")
    raise PlanOutdated(
        "Somebody changed the workspace after the plan was made. Nothing was changed. Make a new "
        "plan, then apply it."
    )


def _refuse_problems(problems: Sequence[Any]) -> None:
    if problems:
        many = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        raise InvalidBundle(
            f"The bundle has {many}, so nothing was changed.", first_problems(problems)
        )


def _note(
    applied: AppliedBundle,
    found: BundleComparison,
    bundle: Bundle,
    source: BundleSource | None,
    actor: Actor,
) -> None:
    """If a source is given, record it and the objects; write an audit row if anything changed."""
    moved = source is not None and _moved(applied, found, source, pruned=bundle.prune)
    if moved:
        applied.applied_by, applied.applied_at = actor.name[:200], database_now()
        applied.save()
    if not moved and not found.plan.changes:
        return
    changes = [f"{one.action} {one.kind}/{one.name}" for one in found.plan.changes]
    record(
        actor,
        "bundle.apply",
        workspace_id=applied.workspace_id,
        object_type="Workspace",
        object_id=applied.workspace_id,
        details={
            **(asdict(source) if source else {}),
            "fingerprint": found.plan.fingerprint,
            "changes": changes[:MOST_NAMED],
            "count": len(changes),
        },
    )


def _moved(
    applied: AppliedBundle, found: BundleComparison, source: BundleSource, *, pruned: bool
) -> bool:
    """Update the record with the bundle's source and objects; return whether anything changed."""
    facts = {
        "repository": source.repository[:300],
        "commit": source.commit[:80],
        "ref": source.ref[:200],
        "keys": sorted({*_brought(found, pruned=pruned), *_unread(applied, found)}),
    }
    changed = any(getattr(applied, name) != value for name, value in facts.items())
    for name, value in facts.items():
        setattr(applied, name, value)
    return changed or bool(found.plan.changes)


def _brought(found: BundleComparison, *, pruned: bool) -> set[str]:
    """Return the keys of existing objects that came from this or an earlier bundle."""
    slugs = [verdict.slug for verdict in found.verdicts]
    slugs += [] if pruned else [one.slug for one in found.gone]
    keys = {f"{WORKFLOWS}/{slug}" for slug in slugs}
    for each in found.items:
        keys |= each.named
        keys |= {each.kind.identity(row.item) for row in each.gone if not pruned}
    return keys


def _unread(applied: AppliedBundle, found: BundleComparison) -> set[str]:
    """Return the recorded keys of kinds that were not compared; their objects are kept."""
    read = {WORKFLOWS, *(each.kind.name for each in found.items)}
    return {key for key in applied.keys if key.partition("/")[0] not in read}
