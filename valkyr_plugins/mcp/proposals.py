"""Create, approve, reject and expire proposals. Only this module writes their state.

A proposal is applied in the transaction that approves it, under the proposal's lock, so it is
applied once or not at all. This lock is taken before all others.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

from executions.public.access import (
    UNATTENDED,
    Action,
    Actor,
    Forbidden,
    limits_of,
    record,
    require,
)
from executions.public.configuration import read
from executions.public.database import (
    AdvisoryLock,
    ClockTimestamp,
    connection,
    database_now,
    hold,
    transaction,
)
from executions.public.errors import NotFound, ValkyrError, WrongState
from valkyr_plugins.mcp.conf import McpSettings
from valkyr_plugins.mcp.in_process import ApiRefused, InProcessApi
from valkyr_plugins.mcp.kinds import KINDS, Basis
from valkyr_plugins.mcp.models import Proposal, ProposalState

EXPIRED_AT_ONCE = 500
State = ProposalState


class TooManyProposals(ValkyrError):
    """Too many proposals are waiting for approval. Approve or reject some first."""

    code = "too_many_proposals"


class NotApplied(ValkyrError):
    """The change cannot be applied."""

    code = "proposal_not_applied"


def propose(api: InProcessApi, kind: str, arguments: Mapping[str, Any], rationale: str) -> Proposal:
    """Create a proposal on behalf of the caller, for an object that the caller may see.

    If the caller has an equal open proposal, return that proposal, because agents repeat calls.
    Raises ApiRefused, NotFound, Forbidden or TooManyProposals.
    """
    found = KINDS[kind].look(api, arguments)
    require(api.user, found.workspace_id, Action.VIEW)
    hours = read(McpSettings).mcp_proposal_hours
    with transaction.atomic():
        # Wait for concurrent calls, so that each call counts the proposals of the others.
        hold(AdvisoryLock.MCP_PROPOSING, f"proposals of {found.workspace_id}")
        equal = Proposal.objects.filter(
            workspace_id=found.workspace_id,
            state=State.PENDING,
            kind=kind,
            arguments=dict(arguments),
            seen=found.seen,
            created_by_name=api.actor.name[:200],
            created_via=api.actor.via,
            expires_at__gt=database_now(),
        )
        if (known := equal.first()) is not None:
            return known
        _require_room(found.workspace_id)
        proposal = Proposal(
            workspace_id=found.workspace_id,
            kind=kind,
            title=found.title,
            rationale=rationale,
            object_type=found.object_type,
            object_id=found.object_id,
            arguments=dict(arguments),
            seen=found.seen,
            created_by_name=api.actor.name[:200],
            created_via=api.actor.via,
            expires_at=database_now() + timedelta(hours=hours),
        )
        proposal.save(force_insert=True)
        _note(proposal, "create", api.actor, rationale, None)
    return _fresh(proposal.pk)


def approve(proposal_id: UUID, api: InProcessApi, *, reason: str = "") -> Proposal:
    """Apply the change as the caller, and record the result.

    Raises NotFound, WrongState, and Forbidden for a token without the scope `unattended`. Raises
    NotApplied if an operation is rejected; then nothing changes, and the proposal remains open.
    """
    require_person(api)
    with transaction.atomic():
        proposal = _locked(proposal_id, State.APPROVED)
        told = f"Proposal {proposal.pk} of {proposal.created_by_name}: {proposal.rationale}"
        try:
            kind = KINDS[proposal.kind]
            result = kind.apply(api.writing(), proposal.arguments, _basis(proposal), told)
        except ApiRefused as refusal:
            raise NotApplied(_sentence(refusal)) from refusal
        limits = limits_of(api.user)
        _decide(proposal, State.APPROVED, api.actor, reason, result, limits is not None)
    return _fresh(proposal_id)


def reject(proposal_id: UUID, *, actor: Actor, reason: str = "") -> Proposal:
    """Reject a proposal; nothing changes. Raises NotFound or WrongState."""
    with transaction.atomic():
        proposal = _locked(proposal_id, State.REJECTED)
        _decide(proposal, State.REJECTED, actor, reason, None, False)
    return _fresh(proposal_id)


def expire() -> int:
    """Expire up to 500 proposals that were not decided in time; return their number."""
    due = Proposal.objects.filter(state=State.PENDING, expires_at__lt=database_now())
    ids = list(due.order_by("expires_at").values_list("pk", flat=True)[:EXPIRED_AT_ONCE])
    return sum(_expire(pk) for pk in ids)


def preview(proposal: Proposal, api: InProcessApi) -> Any:
    """Return what the caller's approval of a proposal would do now; change nothing.

    PostgreSQL rejects any write in the transaction. Raises ApiRefused, also if the caller lacks a
    permission for the approval or for the change.
    """
    kind = KINDS[proposal.kind]
    try:
        for power in (Action.OPERATE, kind.needs(proposal.arguments)):
            require(api.user, proposal.workspace_id, power)
    except Forbidden as error:
        raise ApiRefused(403, {"detail": str(error)}) from error
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION READ ONLY")
        return kind.preview(api, proposal.arguments, _basis(proposal))


def _basis(proposal: Proposal) -> Basis:
    return Basis(proposal.seen, proposal.created_at)


def require_person(api: InProcessApi) -> None:
    """Raise Forbidden for an API token without the scope `unattended`.

    The token may belong to an agent.
    """
    limits = limits_of(api.user)
    if limits is not None and UNATTENDED not in limits.scopes:
        raise Forbidden(
            "An API token without the scope unattended cannot approve proposals. Approve it in "
            "the admin."
        )


def _expire(proposal_id: UUID) -> int:
    with transaction.atomic():
        rows = Proposal.objects.select_for_update(no_key=True, skip_locked=True)
        proposal = rows.filter(pk=proposal_id, state=State.PENDING).first()
        if proposal is None:
            return 0
        _decide(proposal, State.EXPIRED, Actor.system("proposals"), "", None, False)
    return 1


def _locked(proposal_id: UUID, target: ProposalState) -> Proposal:
    rows = Proposal.objects.select_for_update(no_key=True)
    proposal = rows.filter(pk=proposal_id).first()
    if proposal is None:
        raise NotFound(f"There is no proposal {proposal_id}.")
    late = proposal.expires_at <= database_now()
    if proposal.state != State.PENDING or (late and target == State.APPROVED):
        state = State.EXPIRED if proposal.state == State.PENDING else proposal.state
        raise WrongState(
            f"The proposal {proposal_id} is {state}, and only a PENDING one can be decided.", state
        )
    return proposal


def _decide(
    proposal: Proposal,
    target: ProposalState,
    actor: Actor,
    reason: str,
    result: Any,
    unattended: bool,
) -> None:
    moved = Proposal.objects.filter(pk=proposal.pk, state=State.PENDING).update(
        state=target,
        decided_by_name=actor.name[:200],
        decided_at=ClockTimestamp(),
        decision_reason=reason,
        result=result,
        unattended=unattended,
    )
    assert moved == 1, "the row is locked"
    verbs = {State.APPROVED: "approve", State.REJECTED: "reject", State.EXPIRED: "expire"}
    _note(proposal, verbs[target], actor, reason, result, before=State.PENDING, after=target)


def _note(
    proposal: Proposal,
    verb: str,
    actor: Actor,
    reason: str,
    result: Any,
    *,
    before: str = "",
    after: str = State.PENDING,
) -> None:
    # Without the arguments, which may contain payloads. Users with the permission see them in the
    # proposal.
    record(
        actor,
        f"proposal.{verb}",
        workspace_id=proposal.workspace_id,
        object_type=Proposal.AUDITED_AS,
        object_id=proposal.pk,
        reason=reason,
        before={"state": str(before)} if before else None,
        after={"state": str(after)},
        details={
            "kind": str(proposal.kind),
            "title": proposal.title,
            "object": f"{proposal.object_type} {proposal.object_id or ''}".strip(),
            **({"result": result} if result else {}),
        },
    )


def _require_room(workspace_id: UUID) -> None:
    most = read(McpSettings).mcp_open_proposals
    rows = Proposal.objects.filter(workspace_id=workspace_id, state=State.PENDING)
    if rows[:most].count() >= most:
        raise TooManyProposals(
            f"{most} proposals are waiting for approval in this workspace, which is the maximum. "
            "Approve or reject some first."
        )


def _sentence(refusal: ApiRefused) -> str:
    problem = refusal.problem
    errors = "; ".join(
        f"{one.get('path', '')}: {one.get('message', '')}" for one in problem.get("errors", [])[:5]
    )
    detail = problem.get("detail", "The operation was refused.")
    return f"The change cannot be applied ({refusal.status}): {detail} {errors}".strip()


def _fresh(proposal_id: UUID) -> Proposal:
    return Proposal.objects.get(pk=proposal_id)
