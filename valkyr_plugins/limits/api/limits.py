"""Common parts of the endpoints of quotas and budgets: requests, rows and responses."""
# ruff: noqa: N815 - the names are the JSON's

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar
from uuid import UUID

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from executions.public import addresses
from executions.public.access import Action, obtain, visible, workspace_for
from executions.public.api import (
    Body,
    CamelCase,
    Endpoint,
    Id,
    PageQuery,
    asked_user_id,
    narrowed,
    page,
    shown_user_id,
)
from executions.public.models import Permission
from valkyr_plugins.limits.limit_kind import L, LimitKind

MOST = 2**31 - 1


class LimitShape(CamelCase, serializers.ModelSerializer[Any]):
    """The fields that quotas and budgets share in responses."""

    workspace_id = serializers.UUIDField()
    user_id = shown_user_id(
        allow_null=True, help_text=("The limited user; null for the whole workspace.")
    )
    username = serializers.CharField(source="user.get_username", default=None, allow_null=True)
    created_at = serializers.DateTimeField()


class LimitQuery(PageQuery):
    """The query parameters of a list of limits."""

    workspaceId = serializers.UUIDField(required=False)
    userId = asked_user_id(required=False)


class NewLimit(Body):
    """The workspace, or the member, that a new limit applies to."""

    workspaceId = Id(required=False)
    userId = asked_user_id(
        strict=True,
        required=False,
        allow_null=True,
        help_text="The member to limit; default: the whole workspace.",
    )


def rows_of(kind: LimitKind[L]) -> QuerySet[L]:
    """Return all limits of a kind; the query also reads the limited users."""
    return kind.model._default_manager.select_related("user")


class LimitEndpoint(Endpoint):
    """The base class of endpoints that read and write one kind of limit."""

    kind: ClassVar[LimitKind[Any]]
    shape: ClassVar[type[LimitShape]]
    uses_of: ClassVar[Callable[[Any], Any]]

    def listed(self, request: Request, form: type[LimitQuery], *names: str) -> Response:
        """Return a page of visible limits; `names` are columns that the query may filter by."""
        query = self.query(form)
        columns = {"userId": "user_id", **{name: name for name in names}}
        rows = narrowed(visible(self.user, rows_of(self.kind)), query, columns)
        found = page(request, rows, query)
        return Response(self._shown(found.rows), headers=found.headers)

    def created(self, given: Mapping[str, Any], facts: Mapping[str, Any]) -> Response:
        """Create a limit with `facts` for the given workspace or member; return the response."""
        workspace = workspace_for(self.user, given.get("workspaceId"), Permission.CONFIGURE)
        made = self.kind.create(workspace, facts, user_id=given.get("userId"), actor=self.actor)
        place = addresses.api(self.kind.model._meta.model_name, made.pk)
        return Response(self._shown([made])[0], 201, headers={"Location": place})

    def one(self, pk: UUID) -> Response:
        """Return the response with one limit that the caller may see."""
        limit, _ = obtain(self.user, rows_of(self.kind), pk, Action.VIEW)
        return Response(self._shown([limit])[0])

    def changed(self, pk: UUID, form: type[Body]) -> Response:
        """Change a limit and return the response.

        Raises ValidationError if the request names no field.
        """
        obtain(self.user, rows_of(self.kind), pk, Permission.CONFIGURE)
        given = self.body(form)
        if not given:
            raise ValidationError("Name at least one field to change.", code="required")
        return Response(self._shown([self.kind.change(pk, given, actor=self.actor)])[0])

    def deleted(self, pk: UUID) -> Response:
        """Delete a limit and return the response."""
        obtain(self.user, rows_of(self.kind), pk, Permission.CONFIGURE)
        self.kind.delete(pk, actor=self.actor)
        return Response(status=204)

    def _shown(self, found: Sequence[Any]) -> list[dict[str, object]]:
        context = {"uses": type(self).uses_of(found)}
        return list(self.shape(found, many=True, context=context).data)
