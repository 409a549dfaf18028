"""Workspaces: those one is in; superusers make them, put them on a tier and archive them."""

from typing import Any
from uuid import UUID

from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.access import Action, Powers, User, require
from executions.accounts import workspaces
from executions.accounts.standing import require_root, seen_workspaces
from executions.api.documentation import operation
from executions.api.endpoint import Endpoint
from executions.api.paging import page
from executions.api.workspace_shapes import (
    NewWorkspace,
    WorkspaceChange,
    WorkspaceQuery,
    WorkspaceShape,
)
from executions.errors import NotFound
from executions.models import Tier, Workspace


def found(user: User, pk: UUID) -> tuple[Workspace, dict[UUID, Powers]]:
    """A workspace the caller is in, and the caller's powers by workspace; raises NotFound."""
    rows, reach = seen_workspaces(user)
    workspace = rows.select_related("tier").filter(pk=pk).first()
    if workspace is None:
        raise NotFound(f"You are in no workspace {pk}.")
    return workspace, reach.members


def shown(workspace: Workspace, powers: dict[UUID, Powers]) -> Any:
    """A workspace as JSON."""
    return WorkspaceShape(workspace, context={"powers": powers}).data


def _tier(pk: UUID) -> Tier:
    tier = Tier.objects.filter(pk=pk).first()
    if tier is None:
        raise ValidationError({"tierId": f"There is no tier {pk}."}, code="unknown_tier")
    return tier


class Workspaces(Endpoint):
    """All workspaces."""

    @operation(
        "listWorkspaces",
        "Workspace",
        {200: WorkspaceShape(many=True)},
        parameters=[WorkspaceQuery],
    )
    def get(self, request: Request) -> Response:
        """The workspaces you are in, newest first, archived ones too."""
        query = self.query(WorkspaceQuery)
        rows, reach = seen_workspaces(self.user)
        if "archived" in query:
            rows = rows.filter(archived_at__isnull=not query["archived"])
        listed = page(request, rows.select_related("tier"), query)
        context = {"powers": reach.members}
        data = WorkspaceShape(listed.rows, many=True, context=context).data
        return Response(data, headers=listed.headers)

    @operation(
        "createWorkspace",
        "Workspace",
        {201: WorkspaceShape},
        request=NewWorkspace,
        errors=[403, 409],
        idempotent=True,
    )
    def post(self, request: Request) -> Response:
        """A new workspace, for superusers; it has no members yet."""
        require_root(self.user, "make workspaces")
        given = self.body(NewWorkspace)
        tier = _tier(given["tierId"])
        slug = given.get("slug", "")
        made = workspaces.create_workspace(given["name"], tier, actor=self.actor, slug=slug)
        headers = {"Location": f"/v1/Workspace/{made.pk}"}
        return Response(shown(*found(self.user, made.pk)), 201, headers=headers)


class OneWorkspace(Endpoint):
    """One workspace."""

    @operation("getWorkspace", "Workspace", {200: WorkspaceShape}, errors=[404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """A workspace you are in, whatever your role."""
        return Response(shown(*found(self.user, id)))

    @operation(
        "patchWorkspace",
        "Workspace",
        {200: WorkspaceShape},
        request=WorkspaceChange,
        errors=[403, 404],
    )
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Its name, for who administers it; its tier and `archived`, for superusers."""
        _, powers = found(self.user, id)
        require(self.user, id, Action.ADMINISTER)
        given = self.body(WorkspaceChange)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        if given.keys() - {"name"}:
            require_root(self.user, "put a workspace on another tier, archive or restore it")
        if "tierId" in given:
            given["tier"] = _tier(given.pop("tierId"))
        return Response(shown(workspaces.change_workspace(id, given, actor=self.actor), powers))

    @operation("archiveWorkspace", "Workspace", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Archive it, for superusers: nothing triggers there any more, every row stays."""
        found(self.user, id)
        require_root(self.user, "archive a workspace")
        workspaces.archive_workspace(id, actor=self.actor)
        return Response(status=204)
