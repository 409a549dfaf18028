"""Quotas: list, create, read, change, delete; and what a workspace uses of its limits."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, obtain, visible, workspace_for
from executions.admission.usage import usage_of
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from executions.api.quota_shapes import (
    NewQuota,
    QuotaChange,
    QuotaQuery,
    QuotaShape,
    WorkspaceUsageShape,
)
from executions.models import Quota, Workspace
from executions.quotas.rules import LIMITS
from executions.quotas.setting import change_quota, create_quota, delete_quota
from executions.quotas.usage import counter_of, present
from executions.states import Permission, Resource

FILTERS = {
    "workspaceId": "workspace_id",
    "userId": "user_id",
    "resource": "resource",
    "target": "target",
}


def quotas() -> QuerySet[Quota]:
    """Quotas with the names of whom they limit."""
    return Quota.objects.select_related("user")


def shown(found: Sequence[Quota]) -> list[dict[str, object]]:
    """Quotas with what is used of them."""
    counted = [quota.pk for quota in found if quota.max_concurrent is not None]
    counters = present(map(counter_of, found), counted)
    return list(QuotaShape(found, many=True, context={"present": counters}).data)


class Quotas(Endpoint):
    """All quotas."""

    @operation("listQuotas", "Quota", {200: QuotaShape(many=True)}, parameters=[QuotaQuery])
    def get(self, request: Request) -> Response:
        """The quotas of your workspaces, newest first, with what is used of them."""
        query = self.query(QuotaQuery)
        filters = {path: query[name] for name, path in FILTERS.items() if name in query}
        found = page(request, visible(self.user, quotas()).filter(**filters), query)
        return Response(shown(found.rows), headers=found.headers)

    @operation(
        "createQuota",
        "Quota",
        {201: QuotaShape},
        request=NewQuota,
        errors=[403, 404],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """Limit what a workspace, or one of its members, may use.

        That is executions they start, steps of one module type, or tokens of language models.
        """
        given = self.body(NewQuota)
        workspace = workspace_for(self.user, given.pop("workspaceId", None), Permission.CONFIGURE)
        made = create_quota(
            workspace,
            {name: value for name, value in given.items() if name in LIMITS},
            user_id=given.get("userId"),
            resource=given.get("resource", Resource.EXECUTIONS),
            target=given.get("target", ""),
            actor=self.actor,
        )
        return Response(shown([made])[0], 201, headers={"Location": f"/v1/Quota/{made.pk}"})


class OneQuota(Endpoint):
    """One quota."""

    @operation("getQuota", "Quota", {200: QuotaShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One quota, with what is used of it."""
        quota, _ = obtain(self.user, quotas(), id, Action.VIEW)
        return Response(shown([quota])[0])

    @operation("patchQuota", "Quota", {200: QuotaShape}, request=QuotaChange, errors=[403, 404])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Set other limits; they hold at once, and what was used before still counts."""
        obtain(self.user, quotas(), id, Permission.CONFIGURE)
        given = self.body(QuotaChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        return Response(shown([change_quota(id, given, actor=self.actor)])[0])

    @operation("deleteQuota", "Quota", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Take the limit away."""
        obtain(self.user, quotas(), id, Permission.CONFIGURE)
        delete_quota(id, actor=self.actor)
        return Response(status=204)


class WorkspaceUsage(Endpoint):
    """What a workspace uses."""

    @operation("getWorkspaceUsage", "Workspace", {200: WorkspaceUsageShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """The workspace's limits, what runs and waits, what was started this hour and today."""
        obtain(self.user, Workspace.objects.all(), id, Action.VIEW)
        return Response(WorkspaceUsageShape(usage_of(id)).data)
