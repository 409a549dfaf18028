"""Quotas: list, create, read, change, delete; each with what is used of it."""

from uuid import UUID

from rest_framework.request import Request
from rest_framework.response import Response

from executions.public.api import operation
from valkyr_plugins.limits.api.limits import LimitEndpoint
from valkyr_plugins.limits.api.quota_shapes import NewQuota, QuotaChange, QuotaQuery, QuotaShape
from valkyr_plugins.limits.quotas.rules import LIMITS, QUOTAS
from valkyr_plugins.limits.quotas.usage import uses_of
from valkyr_plugins.limits.states import Resource


class QuotaEndpoint(LimitEndpoint):
    """Requests about quotas."""

    kind, shape, uses_of = QUOTAS, QuotaShape, uses_of


class Quotas(QuotaEndpoint):
    """All quotas."""

    @operation("listQuotas", "Quota", {200: QuotaShape(many=True)}, parameters=[QuotaQuery])
    def get(self, request: Request) -> Response:
        """The quotas of your workspaces, newest first, with what is used of them."""
        return self.listed(request, QuotaQuery, "resource", "target")

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
        facts = {name: given[name] for name in ("resource", "target", *LIMITS) if name in given}
        return self.created(given, {"resource": Resource.EXECUTIONS} | facts)


class OneQuota(QuotaEndpoint):
    """One quota."""

    @operation("getQuota", "Quota", {200: QuotaShape}, errors=[403, 404])
    def get(self, request: Request, id: UUID) -> Response:  # noqa: A002 - the path's name
        """One quota, with what is used of it."""
        return self.one(id)

    @operation("patchQuota", "Quota", {200: QuotaShape}, request=QuotaChange, errors=[403, 404])
    def patch(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Set other limits; they hold at once, and what was used before still counts."""
        return self.changed(id, QuotaChange)

    @operation("deleteQuota", "Quota", {204: None}, errors=[403, 404])
    def delete(self, request: Request, id: UUID) -> Response:  # noqa: A002
        """Take the limit away."""
        return self.deleted(id)
